package io.journalq.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.sim.workload.Work;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Every seed is a test of its own; these are the ones of every build. More: {@code bin/journalq-sim --help}. */
class SimulationTest {
    private static final long FIRST_SEED = 1;
    private static final int SEEDS = Integer.getInteger("journalq.sim.seeds", 2_000);
    private static final int SEEDS_ON_A_LYING_DISK = 60;

    @Test
    void shouldKeepEveryPromiseWhenTheBrokerCrashesAnywhere() {
        int crashes = 0;
        long records = 0;
        Map<Work, Long> work = new EnumMap<>(Work.class);
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            // when
            SimResult result = Simulation.run(seed);

            // then
            assertThat(result.violations())
                    .as("replay with: bin/journalq-sim --seed %d", seed)
                    .isEmpty();
            assertThat(Simulation.run(seed).hash())
                    .as("two runs of seed %d", seed)
                    .isEqualTo(result.hash());
            crashes += result.crashes();
            records += result.records();
            result.work().forEach((kind, count) -> work.merge(kind, count, Long::sum));
        }
        // It was about something.
        assertThat(crashes).isGreaterThan(SEEDS);
        assertThat(records).isGreaterThan(20L * SEEDS);
        // And every kind of client took part in it.
        assertThat(work).containsOnlyKeys(Work.values());
        assertThat(work)
                .allSatisfy((kind, count) ->
                        assertThat(count).as("%s in %d seeds", kind, SEEDS).isGreaterThan(SEEDS / 50));
    }

    @Test
    void shouldFindLossesWhenTheDiskLies() {
        // when
        long found = LongStream.range(0, SEEDS_ON_A_LYING_DISK)
                .filter(seed -> !Simulation.runOnALyingDisk(seed).isSound())
                .count();

        // then
        assertThat(found).isGreaterThan(SEEDS_ON_A_LYING_DISK / 10);
    }
}
