package io.journalq.server.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoopCycleTest {
    private final SteppedIterations loop = new SteppedIterations();
    private final LoopCycle cycle = LoopCycle.cycles(List.of(loop)).get(0);

    @Test
    void shouldReachTheEndOfThisIterationAndOfTheNextWhenWorkEndsInAnError() {
        // given work in every phase; the first piece of work fails
        List<String> done = new ArrayList<>();
        cycle.onWrite(() -> {
            throw new OutOfMemoryError("as when there is no direct memory");
        });
        cycle.onWrite(() -> done.add("write"));
        cycle.onWakeUp(() -> done.add("wake up"));
        cycle.onFlush(() -> done.add("flush"));

        // when
        loop.endIteration();
        cycle.onFlush(() -> done.add("next"));
        loop.endIteration();

        // then
        assertThat(done).containsExactly("write", "wake up", "flush", "next");
    }

    @Test
    void shouldCountTheTimeOfRequestsFromTheirIterationToTheEndOfTheOneThatResponds() {
        // given a request that is read in an iteration of 80 µs and waits for the disk
        cycle.begin();
        long waitingSince = cycle.begunNanos();
        loop.nowNanos += 80_000;
        loop.endIteration();

        // when its response leaves in a later iteration, together with responses to requests of that iteration
        loop.nowNanos = 3_000_000;
        cycle.begin();
        cycle.onResponse(ApiKey.PRODUCE.id(), waitingSince);
        for (int i = 0; i < 100; i++) {
            cycle.onResponse(ApiKey.METADATA.id(), cycle.begunNanos());
        }
        loop.nowNanos += 200_000;
        loop.endIteration();

        // then
        assertThat(countsOf(ApiKey.PRODUCE)).containsExactly("5000000: 1");
        assertThat(countsOf(ApiKey.METADATA)).containsExactly("250000: 100");
        assertThat(countsOf(ApiKey.FETCH)).isEmpty();
        assertThat(cycle.requestTimes().sumNanos(ApiKey.PRODUCE)).isEqualTo(3_200_000);
        assertThat(cycle.requestTimes().sumNanos(ApiKey.METADATA)).isEqualTo(100 * 200_000);
    }

    @Test
    void shouldHandOverAllWorkOfAnIterationInOneTaskForEachLoop() {
        // given three loops; the first one runs
        SteppedIterations second = new SteppedIterations();
        SteppedIterations third = new SteppedIterations();
        List<LoopCycle> cycles = LoopCycle.cycles(List.of(loop, second, third));
        List<String> done = new ArrayList<>();
        second.current = false;
        third.current = false;

        // when it hands work over in two iterations
        cycles.get(0).handOver(cycles.get(1), () -> done.add("first"));
        cycles.get(0).handOver(cycles.get(2), () -> done.add("of the third loop"));
        cycles.get(0).handOver(cycles.get(1), () -> done.add("second"));
        loop.endIteration();
        cycles.get(0).handOver(cycles.get(1), () -> done.add("third"));
        loop.endIteration();

        // then
        assertThat(second.tasks).hasSize(2);
        assertThat(third.tasks).hasSize(1);
        assertThat(cycles.get(0).counters().handOvers()).isEqualTo(3);
        second.tasks.forEach(Runnable::run);
        assertThat(done).containsExactly("first", "second", "third");
    }

    private List<String> countsOf(ApiKey api) {
        List<String> counts = new ArrayList<>();
        for (int bucket = 0; bucket < RequestTimes.bucketCount(); bucket++) {
            long count = cycle.requestTimes().count(api, bucket);
            if (count > 0) {
                counts.add(RequestTimes.upperBoundNanos(bucket) + ": " + count);
            }
        }
        return counts;
    }

    /** Logs exceptions and continues, like Netty's event loop. */
    private static final class SteppedIterations implements Loop {
        private final ArrayDeque<Runnable> atEnd = new ArrayDeque<>();
        private final List<Runnable> tasks = new ArrayList<>();
        private boolean current = true;
        private long nowNanos;

        void endIteration() {
            for (int i = atEnd.size(); i > 0; i--) {
                try {
                    atEnd.remove().run();
                } catch (OutOfMemoryError logged) {
                    assertThat(logged).hasMessageContaining("memory");
                }
            }
        }

        @Override
        public boolean inLoop() {
            return current;
        }

        @Override
        public void execute(Runnable work) {
            tasks.add(work);
        }

        @Override
        public void afterIteration(Runnable work) {
            atEnd.add(work);
        }

        @Override
        public Timer schedule(Runnable work, long delayMs) {
            throw new AssertionError("nothing waits");
        }

        @Override
        public long nanoTime() {
            return nowNanos;
        }
    }
}
