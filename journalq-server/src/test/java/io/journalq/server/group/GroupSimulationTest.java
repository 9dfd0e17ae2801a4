package io.journalq.server.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random histories of a classic group. Checked after every event: a partition has one owner in a generation, no fenced
 * member has committed, and committed offsets are those that were acknowledged last, even after a coordinator was
 * loaded again.
 */
class GroupSimulationTest {
    private static final int SEEDS = Integer.getInteger("journalq.seeds", 60);
    private static final int FIRST_SEED = Integer.getInteger("journalq.seed", 1);

    @Test
    void shouldKeepItsPromisesInEveryHistory() {
        for (int seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            try {
                GroupSimulation simulation = new GroupSimulation(seed, 1 + seed % 6);
                simulation.run(400);
                simulation.settle();
            } catch (AssertionError | RuntimeException broken) {
                fail(
                        "seed " + seed + "; replay it with: mvn -q -Pquick -pl journalq-server -am test"
                                + " -Dtest=GroupSimulationTest -Dsurefire.failIfNoSpecifiedTests=false"
                                + " -Djournalq.seed=" + seed + " -Djournalq.seeds=1",
                        broken);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = GroupBug.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void shouldFindABugThatIsPlanted(GroupBug bug) {
        for (int seed = 1; seed <= 60; seed++) {
            try {
                new GroupSimulation(seed, 1 + seed % 6, bug).run(400);
            } catch (AssertionError found) {
                assertThat(found).hasMessageContaining(bug.finding());
                return;
            }
        }
        fail("not found: " + bug);
    }
}
