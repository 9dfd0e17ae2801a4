package io.journalq.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.sim.workload.World.Work;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Runs the seeds of every build. For more, see {@code bin/journalq-sim --help}. */
class SimulationTest {
    private static final long FIRST_SEED = 1;
    private static final int SEEDS = Integer.getInteger("journalq.sim.seeds", 2_000);
    private static final int SEEDS_ON_A_LYING_DISK = 60;

    @Test
    void shouldKeepEveryPromiseWhenTheBrokerCrashesAnywhere() {
        // given
        Queue<SimResult> broken = new ConcurrentLinkedQueue<>();
        Map<Work, Long> work = new ConcurrentHashMap<>();
        SeedRun.Plan eachTwice = new SeedRun.Plan(FIRST_SEED, SEEDS, true, false);
        SeedRun run = new SeedRun(
                eachTwice,
                seed -> {
                    SimResult result = Simulation.run(seed);
                    result.work().forEach((kind, count) -> work.merge(kind, count, Long::sum));
                    return result;
                },
                broken::add);

        // when
        run.start(Runtime.getRuntime().availableProcessors()).join();

        // then
        assertThat(broken).allSatisfy(result -> assertThat(result.violations())
                .as("replay with: bin/journalq-sim --seed %d", result.seed())
                .isEmpty());
        // The run was not empty.
        assertThat(run.tally().seeds()).isEqualTo(SEEDS);
        assertThat(run.tally().crashes()).isGreaterThan(SEEDS);
        assertThat(run.tally().records()).isGreaterThan(20L * SEEDS);
        // Each kind of client took part.
        assertThat(work).containsOnlyKeys(Work.values());
        assertThat(work).allSatisfy((kind, count) -> assertThat(count)
                .as("%s in %d seeds, each twice", kind, SEEDS)
                .isGreaterThan(2L * SEEDS / 50));
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
