package io.journalq.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every promise can be broken: a planted bug is found, and told by its name. */
class PlantedBugsTest {
    /** Until it is found: a few are enough for most, a fenced member's commit comes in three to five of 1,000. */
    private static final int SEEDS = 1_000;

    @ParameterizedTest
    @EnumSource
    void shouldFindTheBrokenPromiseWhenABugIsPlanted(PlantedBug bug) {
        // when
        boolean found = LongStream.range(0, SEEDS).anyMatch(seed -> Simulation.run(seed, bug).violations().stream()
                .anyMatch(words -> words.startsWith(bug.invariant())));

        // then
        assertThat(found).as("%s breaks %s", bug, bug.invariant()).isTrue();
    }
}
