package io.journalq.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each check works: it finds a planted bug, and reports the name of the broken guarantee. */
class PlantedBugsTest {
    /** Seeds to try until the bug is found. A few are enough for most. */
    private static final int SEEDS = 1_000;

    @ParameterizedTest
    @EnumSource
    void shouldFindTheBrokenPromiseWhenABugIsPlanted(PlantedBug bug) {
        // when
        boolean found = LongStream.range(bug.firstSeed(), bug.firstSeed() + SEEDS)
                .anyMatch(seed -> Simulation.run(seed, bug).violations().stream()
                        .anyMatch(violation -> violation.startsWith(bug.invariant())));

        // then
        assertThat(found).as("%s breaks %s", bug, bug.invariant()).isTrue();
    }
}
