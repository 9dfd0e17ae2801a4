package io.journalq.server.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class ConcurrencyLimitedExecutorTest {
    private final Queue<Runnable> wide = new ArrayDeque<>();
    private final List<Integer> done = new ArrayList<>();
    private final ConcurrencyLimitedExecutor narrow = new ConcurrencyLimitedExecutor(wide::add, 2);

    @Test
    void shouldTakeNoMoreThreadsThanItMay() {
        for (int i = 0; i < 5; i++) {
            int number = i;
            narrow.execute(() -> done.add(number));
        }

        assertThat(wide).hasSize(2);
        wide.remove().run();
        assertThat(done).containsExactly(0, 2, 3, 4);
        wide.remove().run();
        assertThat(done).containsExactly(0, 2, 3, 4, 1);

        narrow.execute(() -> done.add(5));
        assertThat(wide).hasSize(1);
    }

    @Test
    void shouldGoOnWhenWorkFails() {
        ConcurrencyLimitedExecutor one = new ConcurrencyLimitedExecutor(wide::add, 1);
        one.execute(() -> {
            throw new IllegalStateException("on purpose");
        });
        one.execute(() -> done.add(1));

        wide.remove().run();

        assertThat(done).containsExactly(1);
        one.execute(() -> done.add(2));
        assertThat(wide).hasSize(1);
    }

    @Test
    void shouldGoOnWhenMemoryRunsOut() {
        ConcurrencyLimitedExecutor one = new ConcurrencyLimitedExecutor(wide::add, 1);
        one.execute(() -> {
            throw new OutOfMemoryError("on purpose");
        });
        one.execute(() -> done.add(1));

        wide.remove().run();

        assertThat(done).containsExactly(1);
        one.execute(() -> done.add(2));
        assertThat(wide).hasSize(1);
    }

    @Test
    void shouldTakeWorkAgainWhenItWasRefusedBefore() {
        List<Runnable> taken = new ArrayList<>();
        boolean[] closed = {true};
        ConcurrencyLimitedExecutor one = new ConcurrencyLimitedExecutor(
                work -> {
                    if (closed[0]) {
                        throw new RejectedExecutionException("closed");
                    }
                    taken.add(work);
                },
                1);

        assertThatThrownBy(() -> one.execute(() -> done.add(1))).isInstanceOf(RejectedExecutionException.class);
        closed[0] = false;
        one.execute(() -> done.add(2));

        taken.get(0).run();
        assertThat(done).containsExactly(2);
    }
}
