package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class StartWaiterTest {
    private final Broker.StartWaiter waiter = new Broker.StartWaiter();

    @Test
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldEndTheStartWhenAnotherThreadWaitsAsWell() throws Exception {
        // given a thread of the broker that waits for its own work when the broker is told to stop
        Broker.StartWaiter own = new Broker.StartWaiter();
        own.stop();
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> worker = CompletableFuture.supplyAsync(() -> own.join(work));

        // then it goes on
        assertThat(worker.isDone()).isFalse();
        work.complete("done");
        assertThat(worker.get(20, TimeUnit.SECONDS)).isEqualTo("done");

        // and the start does not wait for other brokers
        assertThatThrownBy(() -> own.join(new CompletableFuture<>())).isInstanceOf(CancellationException.class);
    }

    @Test
    void shouldWaitForTheCloseWhenTheStartHasEnded() {
        // given
        waiter.stop();
        assertThatThrownBy(() -> waiter.join(new CompletableFuture<>())).isInstanceOf(CancellationException.class);

        // when what was opened is closed
        CompletableFuture<String> closing = CompletableFuture.supplyAsync(() -> "closed");

        // then
        assertThat(waiter.join(closing)).isEqualTo("closed");
    }
}
