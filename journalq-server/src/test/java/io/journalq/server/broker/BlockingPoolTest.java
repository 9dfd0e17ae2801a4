package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BlockingPoolTest {
    private static final int LIMIT_SECONDS = 60;

    private final BlockingPool pool = new BlockingPool("blocking-pool-test");
    private final ThreadFactory threads = pool.getThreadFactory();

    @AfterEach
    void close() {
        assertThat(pool.drain(TimeUnit.SECONDS.toMillis(LIMIT_SECONDS))).isTrue();
    }

    private void refuseThreads() {
        pool.setThreadFactory(work -> {
            throw new OutOfMemoryError("unable to create native thread (planted)");
        });
    }

    @Test
    void shouldRejectWorkWhenItHasNoThreadAndCannotCreateOne() throws Exception {
        refuseThreads();
        assertThatThrownBy(() -> pool.execute(() -> {
                    throw new AssertionError("rejected work does not run");
                }))
                .isInstanceOf(RejectedExecutionException.class);

        // and when there is room for threads again
        pool.setThreadFactory(threads);
        CompletableFuture.runAsync(() -> {}, pool).get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void shouldUseTheThreadsThatItHasWhenItCannotCreateAnother() throws Exception {
        // given a thread that is busy
        CountDownLatch busy = new CountDownLatch(1);
        CompletableFuture<Void> first = CompletableFuture.runAsync(
                () -> {
                    try {
                        busy.await();
                    } catch (InterruptedException interrupted) {
                        Thread.currentThread().interrupt();
                    }
                },
                pool);
        refuseThreads();

        CompletableFuture<Void> second = new CompletableFuture<>();
        assertThatCode(() -> pool.execute(() -> second.complete(null))).doesNotThrowAnyException();
        busy.countDown();

        first.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        second.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }
}
