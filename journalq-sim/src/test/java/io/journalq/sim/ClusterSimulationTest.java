package io.journalq.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.sim.workload.World.Work;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the seeds of a cluster in every build. For more, see {@code bin/journalq-sim --help}. */
class ClusterSimulationTest {
    private static final int SEEDS = Integer.getInteger("journalq.sim.cluster.seeds", 6);
    private static final int MANY_SEEDS = 20;
    private static final int SEEDS_COMPARED = 2;

    private final AtomicLong committed = new AtomicLong();

    @ParameterizedTest
    @ValueSource(ints = {3, 5, 7})
    void shouldKeepEveryPromiseWhenMachinesAndTheNetworkFail(int brokers) {
        // when
        SeedRun.Tally tally = run(brokers, SEEDS, false);

        // then
        assertThat(tally.seeds()).isEqualTo(SEEDS);
        assertThat(committed.get()).as("committed transactions").isGreaterThan(SEEDS);
        // The run was not empty.
        assertThat(tally.crashes()).isGreaterThan(SEEDS);
        assertThat(tally.records()).isGreaterThan(20L * SEEDS);
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 5, 7})
    @Tag("long")
    void shouldKeepEveryPromiseWhenManySeedsRun(int brokers) {
        assertThat(run(brokers, MANY_SEEDS, false).seeds()).isEqualTo(MANY_SEEDS);
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 7})
    void shouldRepeatARunWhenItsSeedIsRepeated(int brokers) {
        assertThat(run(brokers, SEEDS_COMPARED, true).seeds()).isEqualTo(SEEDS_COMPARED);
    }

    private SeedRun.Tally run(int brokers, int seeds, boolean twice) {
        Queue<SimResult> broken = new ConcurrentLinkedQueue<>();
        SeedRun run =
                new SeedRun(new SeedRun.Plan(1, seeds, twice, true), seed -> simulate(brokers, seed), broken::add);
        run.start(Runtime.getRuntime().availableProcessors()).join();
        assertThat(broken).allSatisfy(result -> assertThat(result.violations())
                .as("replay with: bin/journalq-sim --brokers %d --seed %d", brokers, result.seed())
                .isEmpty());
        return run.tally();
    }

    private SimResult simulate(int brokers, long seed) {
        SimResult result = ClusterSimulation.run(brokers, seed);
        committed.addAndGet(result.work().getOrDefault(Work.TRANSACTIONS_COMMITTED, 0L));
        return result;
    }
}
