package io.journalq.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/** Runs of many seeds, several at the same time. */
class SeedRunTest {
    private static final long FIRST = 400;
    private static final int COUNT = 24;

    private final List<SimResult> broken = new ArrayList<>();

    private static SimResult result(long seed, long hash, String... violations) {
        return new SimResult(seed, hash, 10, 1, 2, Map.of(), List.of(violations));
    }

    private SeedRun run(boolean twice, boolean keepGoing, LongFunction<SimResult> simulation) {
        return new SeedRun(new SeedRun.Plan(FIRST, COUNT, twice, keepGoing), simulation, broken::add);
    }

    @Test
    void shouldSeeTheSameHappenWhenSeedsRunAtTheSameTime() {
        // given
        Map<Long, Long> alone = new TreeMap<>();
        for (long seed = FIRST; seed < FIRST + COUNT; seed++) {
            alone.put(seed, Simulation.run(seed).hash());
        }
        Map<Long, Long> together = new ConcurrentSkipListMap<>();
        SeedRun run = run(false, false, seed -> {
            SimResult result = Simulation.run(seed);
            together.put(seed, result.hash());
            return result;
        });

        // when
        run.start(4).join();

        // then
        assertThat(together).isEqualTo(alone);
        assertThat(run.tally().seeds()).isEqualTo(COUNT);
        assertThat(broken).isEmpty();
    }

    @Test
    void shouldFindDefectsOfItsOwnThreadOnlyWhenSeedsRunAtTheSameTime() {
        // given a planted bug in every second seed
        SeedRun run = run(
                false,
                true,
                seed -> seed % 2 == 0 ? Simulation.run(seed, PlantedBug.CANNOT_READ) : Simulation.run(seed));

        // when
        run.start(4).join();

        // then
        assertThat(broken).isNotEmpty().allMatch(result -> result.seed() % 2 == 0);
        assertThat(run.tally().broken()).isEqualTo(broken.size());
    }

    @Test
    void shouldBeginNoOtherSeedWhenAPromiseIsBroken() {
        SeedRun run =
                run(false, false, seed -> seed == FIRST + 3 ? result(seed, 1, "Promise: broken") : result(seed, 1));

        run.start(1).join();

        assertThat(broken).extracting(SimResult::seed).containsExactly(FIRST + 3);
        assertThat(run.tally()).isEqualTo(new SeedRun.Tally(4, 4, 8, 1));
    }

    @Test
    void shouldRunEverySeedWhenItKeepsGoing() {
        SeedRun run = run(false, true, seed -> seed % 2 == 0 ? result(seed, 1, "Promise: broken") : result(seed, 1));

        run.start(3).join();

        assertThat(run.tally()).isEqualTo(new SeedRun.Tally(COUNT, COUNT, 2 * COUNT, COUNT / 2));
    }

    @Test
    void shouldFindTheDifferenceWhenASecondRunIsAnother() {
        AtomicLong hash = new AtomicLong();
        SeedRun run = run(true, true, seed -> result(seed, seed == FIRST ? hash.incrementAndGet() : 7));

        run.start(2).join();

        assertThat(broken).singleElement().satisfies(result -> {
            assertThat(result.seed()).isEqualTo(FIRST);
            assertThat(result.violations()).singleElement().asString().startsWith("RunsAreIdentical");
        });
    }

    @Test
    void shouldNameTheSeedWhenASimulationFails() {
        SeedRun run = run(false, true, seed -> {
            if (seed == FIRST + 1) {
                throw new OutOfMemoryError("simulated");
            }
            return result(seed, 1);
        });

        assertThatThrownBy(() -> run.start(2).join())
                .isInstanceOf(CompletionException.class)
                .hasRootCauseInstanceOf(OutOfMemoryError.class)
                .cause()
                .hasMessageContaining("seed " + (FIRST + 1));
        assertThat(run.tally().seeds()).isLessThan(COUNT);
    }
}
