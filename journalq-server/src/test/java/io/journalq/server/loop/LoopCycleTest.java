package io.journalq.server.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.nio.NioIoHandler;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
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

    @Test
    void shouldRunTheResultsOfAllLoopsInOneTaskWhenTheLastOneHasFinished() {
        // given
        Loops loops = new Loops(4);
        loops.handOverToAll();

        // when all but one loop have finished
        loops.iterate(1);
        loops.iterate(2);

        // then the first loop is not woken
        assertThat(loops.get(0).tasks).isEmpty();
        loops.iterate(3);
        assertThat(loops.get(0).tasks).hasSize(1);
        assertThat(loops.done).isEmpty();
        loops.iterate(0);
        assertThat(loops.done).containsExactlyInAnyOrder("result of 1", "result of 2", "result of 3");
    }

    @Test
    void shouldNotWaitForALoopThatTakesLong() {
        // given a loop that does not run, and two that have finished
        Loops loops = new Loops(4);
        loops.handOverToAll();
        loops.iterate(1);

        // when the time has passed
        loops.advance(HandOverRound.MAX_HOLD_NANOS + 1);

        // then the first loop runs the results in its next iteration, and later ones are passed to it at once
        loops.cycle(0).begin();
        loops.iterate(0);
        assertThat(loops.done).containsExactly("result of 1");
        loops.iterate(2);
        assertThat(loops.get(0).tasks).hasSize(1);
        loops.iterate(0);
        assertThat(loops.done).containsExactly("result of 1", "result of 2");
        loops.iterate(3);
        loops.iterate(0);
        assertThat(loops.done).containsExactly("result of 1", "result of 2", "result of 3");
    }

    @Test
    void shouldNotWakeALoopWhenTheResultsAreNotThereYet() {
        // given work whose result waits for the disk
        Loops loops = new Loops(3);
        loops.cycle(0).handOver(loops.cycle(1), () -> {});
        loops.iterate(0);
        loops.iterate(1);
        assertThat(loops.get(0).tasks).isEmpty();

        // when the result is there in a later iteration
        loops.run(1, () -> loops.cycle(1).handBack(loops.cycle(0), () -> loops.done.add("late result")));

        // then
        assertThat(loops.get(0).tasks).hasSize(1);
        loops.iterate(0);
        assertThat(loops.done).containsExactly("late result");
    }

    @Test
    void shouldRunTheResultsOfTheOthersWhenALoopHasStopped() {
        // given
        Loops loops = new Loops(3);
        loops.get(2).stopped = true;

        // when
        loops.handOverToAll();
        loops.iterate(1);
        loops.iterate(0);

        // then
        assertThat(loops.done).containsExactly("result of 1");
    }

    /** Several loops. The test runs one at a time. */
    private static final class Loops {
        private final List<SteppedIterations> loops = new ArrayList<>();
        private final List<LoopCycle> cycles;
        private final List<String> done = new ArrayList<>();

        Loops(int count) {
            for (int i = 0; i < count; i++) {
                loops.add(new SteppedIterations());
            }
            cycles = LoopCycle.cycles(loops);
            makeCurrent(0);
        }

        SteppedIterations get(int index) {
            return loops.get(index);
        }

        LoopCycle cycle(int index) {
            return cycles.get(index);
        }

        /** The first loop hands work with a result to all others. */
        void handOverToAll() {
            for (LoopCycle other : cycles.subList(1, cycles.size())) {
                cycles.get(0)
                        .handOver(
                                other,
                                () -> other.handBack(cycles.get(0), () -> done.add("result of " + other.index())));
            }
            iterate(0);
        }

        void run(int index, Runnable work) {
            loops.get(index).tasks.add(work);
            iterate(index);
        }

        void iterate(int index) {
            makeCurrent(index);
            loops.get(index).runTasks();
            loops.get(index).endIteration();
            makeCurrent(0);
        }

        void advance(long nanos) {
            loops.forEach(one -> one.nowNanos += nanos);
        }

        private void makeCurrent(int index) {
            for (int i = 0; i < loops.size(); i++) {
                loops.get(i).current = i == index;
            }
        }
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

    @Test
    void shouldLetSocketsHaveTheirTurnBetweenTasksOfDifferentIterations() throws InterruptedException {
        // given work on a real loop that continues in another iteration, again and again
        int times = 200;
        SingleThreadEventLoop real =
                (SingleThreadEventLoop) new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()).next();
        try {
            LoopCycle realCycle = LoopCycle.cycles(List.of(new NettyLoop(real))).get(0);
            CountDownLatch left = new CountDownLatch(times);
            Runnable work = new Runnable() {
                @Override
                public void run() {
                    realCycle.begin();
                    left.countDown();
                    if (left.getCount() > 0) {
                        realCycle.enqueueForNextIteration(this);
                    }
                }
            };

            // when
            realCycle.enqueueForNextIteration(work);
            assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();

            // then the last iteration may not have ended
            long iterations = 0;
            for (int bucket = 0; bucket < realCycle.stalls().bucketCount(); bucket++) {
                iterations += realCycle.stalls().count(bucket);
            }
            assertThat(iterations).isGreaterThanOrEqualTo(times - 1);
        } finally {
            real.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        }
    }

    /** Logs exceptions and continues, like Netty's event loop. */
    private static final class SteppedIterations implements Loop {
        private final ArrayDeque<Runnable> atEnd = new ArrayDeque<>();
        private final List<Runnable> tasks = new ArrayList<>();
        private boolean current = true;
        private boolean stopped;
        private long nowNanos;

        void runTasks() {
            List<Runnable> now = List.copyOf(tasks);
            tasks.clear();
            now.forEach(Runnable::run);
        }

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
            if (stopped) {
                throw new RejectedExecutionException("stopped");
            }
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
