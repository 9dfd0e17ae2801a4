package io.journalq.bench.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.bench.driver.ClientDriver.Publisher;
import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.peer.PubSubDriver.Subscriber;
import io.journalq.bench.traffic.Traffic;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class LiveRunTest {
    private static final int PER_SECOND = 500;
    private static final int LATE_MS = 100;

    private final BlockingQueue<byte[]> queue = new LinkedBlockingQueue<>();

    @TempDir
    private Path directory;

    private byte[] last;
    private long lastNs;
    private boolean repeated;

    @CommandLine.Command
    private static final class Results {
        @CommandLine.Mixin
        private ResultDirectory directory;
    }

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
                    visitor.onMessage(value);
                } else if (last != null
                        && !repeated
                        && System.nanoTime() - lastNs > TimeUnit.MILLISECONDS.toNanos(LATE_MS)) {
                    repeated = true;
                    visitor.onMessage(last);
                }
            }

            @Override
            public void close() {}
        };
    }

    @Test
    void shouldCountAMessageThatComesAgainAfterTheLastOne() throws InterruptedException {
        Results results = new Results();
        new CommandLine(results).parseArgs("--results", directory.toString());

        LiveResult result = new LiveRun(
                        broker(),
                        "topic",
                        new Traffic.Settings(1, 1, PER_SECOND, 0, Integer.MAX_VALUE, 0, 1),
                        PayloadPool.buildForStamps("random", 100, 1 << 16),
                        line -> {})
                .run(
                        Duration.ofMillis(100),
                        Duration.ofMillis(300),
                        Duration.ofSeconds(1),
                        List.of(),
                        results.directory);

        assertThat(result.firstError()).isNull();
        assertThat(result.lost()).isZero();
        assertThat(result.counts().duplicated()).isEqualTo(1);
    }
}
