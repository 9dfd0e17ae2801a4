package io.journalq.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.sim.workload.World.Work;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs the seeds of every build. For more, see {@code bin/journalq-sim --help}. */
class SimulationTest {
    private static final long FIRST_SEED = 1;
    private static final int SEEDS = Integer.getInteger("journalq.sim.seeds", 300);
    /** The long tests, which continuous integration runs, run each of these twice, except for the next number. */
    private static final int SEEDS_OF_LONG_TESTS = 2_000;
    /** The first seeds, which run twice in every build. */
    private static final int SEEDS_COMPARED = 40;

    private static final int SEEDS_ON_A_LYING_DISK = 60;

    @Test
    void shouldKeepEveryPromiseWhenTheBrokerCrashesAnywhere() {
        // given
        Queue<SimResult> broken = new ConcurrentLinkedQueue<>();
        Map<Work, Long> work = new ConcurrentHashMap<>();

        // when
        SeedRun run = run(
                new SeedRun.Plan(FIRST_SEED, SEEDS, false, false),
                seed -> {
                    SimResult result = Simulation.run(seed);
                    result.work().forEach((kind, count) -> work.merge(kind, count, Long::sum));
                    return result;
                },
                broken::add);

        // then
        assertSound(broken);
        // The run was not empty.
        assertThat(run.tally().seeds()).isEqualTo(SEEDS);
        assertThat(run.tally().crashes()).isGreaterThan(SEEDS);
        assertThat(run.tally().records()).isGreaterThan(20L * SEEDS);
        // Each kind of client took part.
        assertThat(work).containsOnlyKeys(Work.values());
        assertThat(work)
                .allSatisfy((kind, count) ->
                        assertThat(count).as("%s in %d seeds", kind, SEEDS).isGreaterThan(SEEDS / 50));
    }

    @Test
    void shouldRepeatARunWhenItsSeedIsRepeated() {
        assertRepeats(FIRST_SEED, SEEDS_COMPARED);
    }

    @Test
    @Tag("long")
    void shouldRepeatEveryRunWhenItsSeedIsRepeated() {
        assertRepeats(FIRST_SEED + SEEDS_COMPARED, SEEDS_OF_LONG_TESTS - SEEDS_COMPARED);
    }

    private static void assertRepeats(long firstSeed, int seeds) {
        Queue<SimResult> broken = new ConcurrentLinkedQueue<>();

        SeedRun run = run(new SeedRun.Plan(firstSeed, seeds, true, false), Simulation::run, broken::add);

        assertSound(broken);
        assertThat(run.tally().seeds()).isEqualTo(seeds);
    }

    private static SeedRun run(SeedRun.Plan plan, LongFunction<SimResult> simulation, Consumer<SimResult> onBroken) {
        SeedRun run = new SeedRun(plan, simulation, onBroken);
        run.start(Runtime.getRuntime().availableProcessors()).join();
        return run;
    }

    private static void assertSound(Queue<SimResult> broken) {
        assertThat(broken).allSatisfy(result -> assertThat(result.violations())
                .as("replay with: bin/journalq-sim --seed %d --twice", result.seed())
                .isEmpty());
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
