package io.journalq.server.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AcceptRateLimiterTest {
    private static final int CONNECTIONS = 5;
    private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final NetworkCounters counters = new NetworkCounters();
    private long nowNanos = 1;
    private final EmbeddedChannel listener = listener(5_000);

    private EmbeddedChannel listener(int connectionsPerSecond) {
        return new EmbeddedChannel(new AcceptRateLimiter(connectionsPerSecond, counters, () -> nowNanos));
    }

    private void accept(int connections) {
        for (int i = 0; i < connections; i++) {
            listener.writeInbound("a connection");
        }
    }

    @Test
    void shouldRestForTheRestOfTheIntervalWhenConnectionsComeTooFast() {
        // given
        listener.freezeTime();
        accept(CONNECTIONS - 1);
        assertThat(listener.config().isAutoRead()).isTrue();

        // when
        accept(1);

        // then it passes all of them on, and then pauses
        assertThat(listener.config().isAutoRead()).isFalse();
        assertThat(counters.acceptPauses()).isEqualTo(1);
        assertThat(listener.inboundMessages()).hasSize(CONNECTIONS);
        listener.advanceTimeBy(INTERVAL_NANOS, TimeUnit.NANOSECONDS);
        listener.runScheduledPendingTasks();
        assertThat(listener.config().isAutoRead()).isTrue();
    }

    @Test
    void shouldNotRestWhenAsManyComeOverALongerTime() {
        // when
        for (int i = 0; i < 4; i++) {
            accept(CONNECTIONS - 1);
            nowNanos += INTERVAL_NANOS;
        }

        // then
        assertThat(listener.config().isAutoRead()).isTrue();
        assertThat(counters.acceptPauses()).isZero();
    }

    @Test
    void shouldTakeOneAtATimeWhenTheRateIsLow() {
        // given
        EmbeddedChannel slow = listener(10);
        slow.freezeTime();

        // when
        slow.writeInbound("a connection");

        // then the next one waits for a tenth of a second
        assertThat(slow.config().isAutoRead()).isFalse();
        slow.advanceTimeBy(99, TimeUnit.MILLISECONDS);
        slow.runScheduledPendingTasks();
        assertThat(slow.config().isAutoRead()).isFalse();
        slow.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        slow.runScheduledPendingTasks();
        assertThat(slow.config().isAutoRead()).isTrue();
    }

    @Test
    void shouldNeverRestWhenTheRateIsTheHighest() {
        // given
        EmbeddedChannel listener = listener(Integer.MAX_VALUE);

        // when
        for (int i = 0; i < 1_000; i++) {
            listener.writeInbound("a connection");
        }

        // then
        assertThat(listener.config().isAutoRead()).isTrue();
    }
}
