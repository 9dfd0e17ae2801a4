package io.journalq.bench.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.bench.driver.ClientDriver.Publisher;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.peer.PubSubDriver.Subscriber;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TrafficRunTest {
    private static final int PER_SECOND = 500;
    private static final Duration WARM_UP = Duration.ofMillis(200);
    private static final Duration DURATION = Duration.ofMillis(600);
    /** After the subscriber was opened. */
    private static final int STALL_BEGINS_MS = 500;

    private static final int STALL_ENDS_MS = 2_000;

    private final BlockingQueue<byte[]> queue = new LinkedBlockingQueue<>();
    private volatile long openedNs;

    /** A broker that confirms each message at once, and delivers none between two times. */
    private PubSubDriver broker() {
        return (PubSubDriver) Proxy.newProxyInstance(
                PubSubDriver.class.getClassLoader(),
                new Class<?>[] {PubSubDriver.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "name" -> "fake";
                    case "openPublisher" -> publisher();
                    case "openSubscriber" -> subscriber();
                    default -> throw new AssertionError("no test calls " + method);
                });
    }

    private Publisher publisher() {
        return new Publisher() {
            @Override
            public void publish(byte[] value, Confirmation confirmation) {
                queue.add(value);
                confirmation.onConfirmed(null);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
    }

    private Subscriber subscriber() {
        openedNs = System.nanoTime();
        return new Subscriber() {
            @Override
            public void poll(Duration timeout, Visitor visitor) throws InterruptedException {
                byte[] value = isStalled() ? null : queue.poll(1, TimeUnit.MILLISECONDS);
                if (value == null) {
                    TimeUnit.MILLISECONDS.sleep(1);
                } else {
                    visitor.onMessage(value);
                }
            }

            @Override
            public void close() {}
        };
    }

    private boolean isStalled() {
        long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - openedNs);
        return ms >= STALL_BEGINS_MS && ms < STALL_ENDS_MS;
    }

    @Test
    void shouldCountTheLatencyOfMessagesThatComeWhenTheTimeIsOver() throws InterruptedException {
        TrafficResult result = new TrafficRun(broker(), WARM_UP, DURATION, false)
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
}
