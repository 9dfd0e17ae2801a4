package io.journalq.bench.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.bench.driver.ClientDriver.Publisher;
import io.journalq.bench.peer.FakePubSub;
import io.journalq.bench.peer.PubSubDriver.Subscriber;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class TransferRunTest {
    private static final int LINES = 60;
    /** More than the batches that a sender has in flight are needed for all lines. */
    private static final int BATCH_SIZE = 5;

    @TempDir
    private Path directory;

    @Test
    void shouldCountAMessageThatComesAgainAfterTheLastOne() throws IOException, InterruptedException {
        long begunNs = System.nanoTime();
        TransferRun.Result result = transfer(new RepeatingPubSub(LINES), TransferRun.SILENCE);

        double tookSeconds = (System.nanoTime() - begunNs) / 1e9;
        assertThat(result.firstError()).isNull();
        assertThat(result.difference()).isEqualTo(new JsonLines.Difference(0, 1));
        assertThat(result.seconds())
                .as("without the wait for messages that come again")
                .isLessThanOrEqualTo(tookSeconds - TransferRun.QUIET_NS / 1e9);
    }

    @Test
    void shouldNotCountTheTimeInWhichSendersConnect() throws IOException, InterruptedException {
        Duration connecting = Duration.ofSeconds(3);

        TransferRun.Result result = transfer(
                new ForwardingPubSub() {
                    @Override
                    protected void onPublisher() {
                        LockSupport.parkNanos(connecting.toNanos());
                    }
                },
                TransferRun.SILENCE);

        assertThat(result.firstError()).isNull();
        assertThat(result.difference().isNone()).isTrue();
        assertThat(result.seconds()).isLessThan(connecting.toMillis() / 1e3);
    }

    @Test
    @Timeout(30)
    void shouldEndWhenNothingIsAcknowledged() throws IOException, InterruptedException {
        TransferRun.Result result = transfer(
                new ForwardingPubSub() {
                    @Override
                    protected void confirm(Publisher.Confirmation confirmation) {
                        // The broker has failed.
                    }
                },
                Duration.ofMillis(300));

        assertThat(result.acknowledged()).isZero();
        assertThat(result.received()).isLessThan(LINES);
        assertThat(result.firstError()).isEqualTo("messages were not acknowledged");
    }

    /** A broker that delivers each message once. */
    private static class ForwardingPubSub extends FakePubSub {
        @Override
        protected void poll(Subscriber.Visitor visitor) throws InterruptedException {
            byte[] value = next();
            if (value != null) {
                visitor.onMessage(value);
            }
        }
    }

    private TransferRun.Result transfer(FakePubSub broker, Duration silence) throws IOException, InterruptedException {
        Path sent = directory.resolve("sent");
        Files.write(
                sent, IntStream.range(0, LINES).mapToObj("line %d"::formatted).toList());
        return new TransferRun(broker.driver(), "topic", BATCH_SIZE, null, silence)
                .run(List.of(sent), LINES, directory.resolve("received"), List.of());
    }
}
