package io.journalq.bench.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.bench.driver.ClientDriver.Publisher;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.peer.PubSubDriver.Subscriber;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TransferRunTest {
    private static final int LINES = 20;
    private static final int LATE_MS = 100;

    private final BlockingQueue<byte[]> queue = new LinkedBlockingQueue<>();

    @TempDir
    private Path directory;

    private int polled;
    private byte[] last;
    private long lastNs;

    /** A broker that delivers the last message once more, some time after it. */
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
        return new Subscriber() {
            @Override
            public void poll(Duration timeout, Visitor visitor) throws InterruptedException {
                byte[] value = queue.poll(1, TimeUnit.MILLISECONDS);
                if (value != null) {
                    last = value;
                    lastNs = System.nanoTime();
                    polled++;
                    visitor.onMessage(value);
                } else if (polled == LINES && System.nanoTime() - lastNs > TimeUnit.MILLISECONDS.toNanos(LATE_MS)) {
                    polled++;
                    visitor.onMessage(last);
                }
            }

            @Override
            public void close() {}
        };
    }

    @Test
    void shouldCountAMessageThatComesAgainAfterTheLastOne() throws IOException, InterruptedException {
        Path sent = directory.resolve("sent");
        Files.write(
                sent, IntStream.range(0, LINES).mapToObj("line %d"::formatted).toList());

        TransferRun.Result result = new TransferRun(broker(), "topic", 5, null)
                .run(List.of(sent), LINES, directory.resolve("received"), List.of());

        assertThat(result.firstError()).isNull();
        assertThat(result.difference()).isEqualTo(new JsonLines.Difference(0, 1));
        assertThat(result.seconds()).isLessThan(1.0);
    }
}
