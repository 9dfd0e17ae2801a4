package io.journalq.server.network.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HandshakePoolTest {
    @Test
    void shouldRejectAStepAndRunItNowhereWhenTheQueueIsFull() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (HandshakePool pool = new HandshakePool(1, 2)) {
            // given one step that runs, and two that wait
            CountDownLatch running = new CountDownLatch(1);
            CompletableFuture<String> last = new CompletableFuture<>();
            pool.execute(() -> {
                running.countDown();
                await(release);
            });
            assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();
            pool.execute(() -> {});
            pool.execute(() -> last.complete(Thread.currentThread().getName()));

            // when
            boolean[] ran = new boolean[1];
            assertThatThrownBy(() -> pool.execute(() -> ran[0] = true)).isInstanceOf(RejectedExecutionException.class);

            // then
            assertThat(ran[0]).isFalse();
            release.countDown();
            assertThat(last.get(30, TimeUnit.SECONDS)).startsWith("journalq-handshake");
        }
    }

    @Test
    void shouldRejectStepsWhenItIsClosed() {
        HandshakePool pool = new HandshakePool(1, 2);
        pool.close();

        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
