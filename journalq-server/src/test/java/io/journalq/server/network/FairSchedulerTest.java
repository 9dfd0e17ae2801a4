package io.journalq.server.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FairSchedulerTest {
    private final SteppedLoop loop = new SteppedLoop();
    private final LoopCycle cycle = LoopCycle.cycles(List.of(loop)).get(0);
    private final FairScheduler turns = new FairScheduler(cycle);
    private final List<String> begun = new ArrayList<>();

    @Test
    void shouldLetGoOnInOrderWhatMakesUpAShareWhenManyWait() {
        // given
        for (String name : List.of("a", "b", "c")) {
            turns.await(taker(name, FairScheduler.SHARE_BYTES));
        }

        // when an iteration ends, then one share is granted, as in each iteration
        loop.iterate();
        assertThat(begun).containsExactly("a");
        loop.iterate();
        assertThat(begun).containsExactly("a", "b");
        loop.iterate();
        assertThat(begun).containsExactly("a", "b", "c");
        loop.iterate();
        assertThat(begun).hasSize(3);
    }

    @Test
    void shouldLetSeveralGoOnWhenTogetherTheyCostNoMoreThanAShare() {
        // given
        turns.await(taker("a", FairScheduler.SHARE_BYTES / 2));
        turns.await(taker("b", FairScheduler.SHARE_BYTES / 2));
        turns.await(taker("c", 1));

        // when
        loop.iterate();

        // then
        assertThat(begun).containsExactly("a", "b");
    }

    @Test
    void shouldWaitForTheNextIterationWhenATurnEndsInTheLastPhaseOfThisOne() {
        // given a connection that uses up its next turn as soon as it begins
        FairScheduler.Participant[] greedy = new FairScheduler.Participant[1];
        greedy[0] = () -> {
            begun.add("greedy");
            cycle.onFlush(() -> turns.await(greedy[0]));
            return FairScheduler.SHARE_BYTES;
        };
        turns.await(greedy[0]);

        // when
        loop.iterate();

        // then the other connections of the loop come first
        assertThat(begun).hasSize(1);
        loop.iterate();
        assertThat(begun).hasSize(2);
    }

    @Test
    void shouldForgetConnectionsThatAreGone() {
        // given
        FairScheduler.Participant gone = taker("gone", 1);
        turns.await(gone);
        turns.await(taker("there", 1));

        // when
        turns.forget(gone);
        loop.iterate();

        // then
        assertThat(begun).containsExactly("there");
    }

    private FairScheduler.Participant taker(String name, long costBytes) {
        return () -> {
            begun.add(name);
            return costBytes;
        };
    }

    /** Runs an iteration when the test requests it: its tasks, then its end. */
    private static final class SteppedLoop implements Loop {
        private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
        private final ArrayDeque<Runnable> ends = new ArrayDeque<>();

        void iterate() {
            runAll(tasks);
            runAll(ends);
        }

        private static void runAll(ArrayDeque<Runnable> work) {
            List<Runnable> now = List.copyOf(work);
            work.clear();
            now.forEach(Runnable::run);
        }

        @Override
        public boolean inLoop() {
            return true;
        }

        @Override
        public void execute(Runnable work) {
            tasks.add(work);
        }

        @Override
        public void afterIteration(Runnable work) {
            ends.add(work);
        }

        @Override
        public Timer schedule(Runnable work, long delayMs) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long nanoTime() {
            return 0;
        }
    }
}
