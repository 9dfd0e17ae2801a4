package io.journalq.server.group;

import static org.assertj.core.api.Assertions.fail;

import org.junit.jupiter.api.Test;

/** Random histories of a classic group: one owner for a partition, no commit of a fenced member, nothing lost. */
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
}
