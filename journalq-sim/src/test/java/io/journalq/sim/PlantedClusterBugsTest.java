package io.journalq.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each promise of a cluster is checked: a planted bug is found, and reported by the name of the promise. */
class PlantedClusterBugsTest {
    /** Seeds to try until the bug is found. A few are enough for most. */
    private static final int SEEDS = 200;

    private static final int BROKERS = 3;

    @ParameterizedTest
    @EnumSource
    void shouldFindTheBrokenPromiseWhenABugIsPlanted(PlantedClusterBug bug) {
        // when
        boolean found = LongStream.range(bug.firstSeed(), bug.firstSeed() + SEEDS)
                .anyMatch(seed -> ClusterSimulation.run(BROKERS, seed, bug).violations().stream()
                        .anyMatch(violation -> violation.startsWith(bug.invariant())));

        // then
        assertThat(found).as("%s breaks %s", bug, bug.invariant()).isTrue();
    }
}
