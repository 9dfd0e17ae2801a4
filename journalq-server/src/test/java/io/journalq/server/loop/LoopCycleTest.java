package io.journalq.server.loop;

import static org.assertj.core.api.Assertions.assertThat;

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

    /** Logs exceptions and continues, like Netty's event loop. */
    private static final class SteppedIterations implements Loop {
        private final ArrayDeque<Runnable> atEnd = new ArrayDeque<>();

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
            return true;
        }

        @Override
        public void execute(Runnable work) {
            throw new AssertionError("nothing is handed over");
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
            return 0;
        }
    }
}
