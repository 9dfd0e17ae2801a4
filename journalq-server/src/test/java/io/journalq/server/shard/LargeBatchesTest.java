package io.journalq.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LargeBatchesTest {
    @Test
    void shouldRunInOrderWithOneAtATime() {
        // given
        ArrayDeque<Runnable> pool = new ArrayDeque<>();
        LargeBatches batches = new LargeBatches(1, pool::add, 1);
        List<Integer> ran = new ArrayList<>();

        // when
        for (int i = 0; i < 3; i++) {
            int number = i;
            batches.add(() -> ran.add(number));
        }

        // then one thread is asked for, and does it all
        assertThat(pool).hasSize(1);
        pool.remove().run();
        assertThat(ran).containsExactly(0, 1, 2);

        // and another when there is more
        batches.add(() -> ran.add(3));
        assertThat(pool).hasSize(1);
    }

    @Test
    void shouldRunNoMoreThanAllowedAtATimeAndForgetNone() throws InterruptedException {
        // given
        int most = 2;
        int count = 2_000;
        ExecutorService pool = Executors.newFixedThreadPool(4);
        LargeBatches batches = new LargeBatches(1, pool, most);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger highest = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(count);

        // when
        for (int i = 0; i < count; i++) {
            batches.add(() -> {
                highest.accumulateAndGet(running.incrementAndGet(), Math::max);
                Thread.onSpinWait();
                running.decrementAndGet();
                done.countDown();
            });
        }

        // then
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(highest.get()).isBetween(1, most);
        pool.shutdownNow();
    }

    @Test
    void shouldRunAtOnceWhenNoThreadTakesIt() {
        // given
        Executor full = work -> {
            throw new RejectedExecutionException("full");
        };
        List<Integer> ran = new ArrayList<>();

        // when
        new LargeBatches(1, full, 1).add(() -> ran.add(1));

        // then
        assertThat(ran).containsExactly(1);
    }
}
