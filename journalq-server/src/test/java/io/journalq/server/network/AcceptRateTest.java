package io.journalq.server.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AcceptRateTest {
    private final NetworkCounters counters = new NetworkCounters();
    private long nowNanos = 1;
    private final EmbeddedChannel listener = new EmbeddedChannel(new AcceptRate(counters, () -> nowNanos));

    private void accept(int connections) {
        for (int i = 0; i < connections; i++) {
            listener.writeInbound("a connection");
        }
    }

    @Test
    void shouldRestForTheRestOfTheIntervalWhenConnectionsComeTooFast() {
        // given
        listener.freezeTime();
        accept(AcceptRate.CONNECTIONS - 1);
        assertThat(listener.config().isAutoRead()).isTrue();

        // when
        accept(1);

        // then it passes all of them on, and accepts no more for a moment
        assertThat(listener.config().isAutoRead()).isFalse();
        assertThat(counters.acceptRests()).isEqualTo(1);
        assertThat(listener.inboundMessages()).hasSize(AcceptRate.CONNECTIONS);
        listener.advanceTimeBy(AcceptRate.INTERVAL_NANOS, TimeUnit.NANOSECONDS);
        listener.runScheduledPendingTasks();
        assertThat(listener.config().isAutoRead()).isTrue();
    }

    @Test
    void shouldNotRestWhenAsManyComeOverALongerTime() {
        // when
        for (int i = 0; i < 4; i++) {
            accept(AcceptRate.CONNECTIONS - 1);
            nowNanos += AcceptRate.INTERVAL_NANOS;
        }

        // then
        assertThat(listener.config().isAutoRead()).isTrue();
        assertThat(counters.acceptRests()).isZero();
    }
}
