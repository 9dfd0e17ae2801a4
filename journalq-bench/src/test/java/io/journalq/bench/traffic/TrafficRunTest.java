package io.journalq.bench.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.BrokerNode;
import io.journalq.bench.measure.SlowMetrics;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.FakePubSub;
import io.journalq.bench.peer.PubSubDriver.Subscriber;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class TrafficRunTest {
    private static final int PER_SECOND = 500;
    private static final Duration WARM_UP = Duration.ofMillis(200);
    private static final Duration DURATION = Duration.ofMillis(600);
    /** After the subscriber was opened. */
    private static final int STALL_BEGINS_MS = 500;

    private static final int STALL_ENDS_MS = 2_000;

    /** A broker that delivers no message between two times. */
    private static final class StallingPubSub extends FakePubSub {
        private volatile long openedNs;

        @Override
        protected void onSubscriber() {
            openedNs = System.nanoTime();
        }

        @Override
        protected void poll(Subscriber.Visitor visitor) throws InterruptedException {
            byte[] value = isStalled() ? null : next();
            if (value == null) {
                TimeUnit.MILLISECONDS.sleep(1);
            } else {
                visitor.onMessage(value);
            }
        }

        private boolean isStalled() {
            long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - openedNs);
            return ms >= STALL_BEGINS_MS && ms < STALL_ENDS_MS;
        }
    }

    @Test
    void shouldCountOnlyTheMeasuredTimeWhenMetricsAreSlow() throws IOException, InterruptedException {
        FakePubSub broker = new FakePubSub() {
            @Override
            protected void poll(Subscriber.Visitor visitor) throws InterruptedException {
                byte[] value = next();
                if (value != null) {
                    visitor.onMessage(value);
                }
            }
        };
        try (SlowMetrics metrics = new SlowMetrics((int) DURATION.toMillis())) {
            TrafficResult result = new TrafficRun(broker.driver(), WARM_UP, DURATION, false)
                    .run(
                            "topic",
                            new Traffic.Settings(1, 1, PER_SECOND, 0, Integer.MAX_VALUE, 0, 1),
                            PayloadPool.buildForStamps("random", 100, 1 << 16),
                            List.of(new BrokerNode(0, null, metrics.address())),
                            "test",
                            null);

            assertThat(result.problem(false)).isNull();
            assertThat(result.publishedPerSecond()).isBetween(PER_SECOND * 0.5, PER_SECOND * 1.5);
            assertThat(result.receivedPerSecond()).isBetween(PER_SECOND * 0.5, PER_SECOND * 1.5);
        }
    }

    @Test
    void shouldCountTheLatencyOfMessagesThatComeWhenTheTimeIsOver() throws InterruptedException {
        TrafficResult result = new TrafficRun(new StallingPubSub().driver(), WARM_UP, DURATION, false)
                .run(
                        "topic",
                        new Traffic.Settings(1, 1, PER_SECOND, 0, Integer.MAX_VALUE, 0, 1),
                        PayloadPool.buildForStamps("random", 100, 1 << 16),
                        List.of(),
                        "test",
                        null);

        assertThat(result.problem(false)).isNull();
        assertThat(result.endToEnd().getTotalCount())
                .isGreaterThanOrEqualTo(result.measured().sent());
        assertThat(TimeUnit.NANOSECONDS.toMillis(result.endToEnd().getMaxValue()))
                .isGreaterThan((STALL_ENDS_MS - STALL_BEGINS_MS) / 2);
    }

    @Test
    void shouldCloseEachSubscriberWhenAPublisherCannotBeOpened() {
        // given
        AtomicInteger open = new AtomicInteger();
        FakePubSub broker = new FakePubSub() {
            @Override
            protected void onSubscriber() {
                open.incrementAndGet();
            }

            @Override
            protected void onSubscriberClosed() {
                open.decrementAndGet();
                throw new BenchException("cannot close", "this is a test");
            }

            @Override
            protected void onPublisher() {
                throw new BenchException("connection refused", "start the broker");
            }

            @Override
            protected void poll(Subscriber.Visitor visitor) {}
        };

        // when
        Traffic.Settings settings = new Traffic.Settings(1, 2, PER_SECOND, 0, Integer.MAX_VALUE, 0, 1);
        PayloadPool pool = PayloadPool.buildForStamps("random", 100, 1 << 16);
        assertThatThrownBy(() -> Traffic.start(broker.driver(), "topic", settings, pool))
                .hasMessageContaining("connection refused")
                .satisfies(failure -> assertThat(failure.getSuppressed())
                        .singleElement()
                        .satisfies(closing -> assertThat(closing)
                                .hasMessageContaining("cannot close")
                                .satisfies(first ->
                                        assertThat(first.getSuppressed()).hasSize(1))));

        // then
        assertThat(open).hasValue(0);
    }
}
