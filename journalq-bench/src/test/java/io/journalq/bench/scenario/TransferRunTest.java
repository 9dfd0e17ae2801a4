package io.journalq.bench.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TransferRunTest {
    private static final int LINES = 20;

    @TempDir
    private Path directory;

    @Test
    void shouldCountAMessageThatComesAgainAfterTheLastOne() throws IOException, InterruptedException {
        Path sent = directory.resolve("sent");
        Files.write(
                sent, IntStream.range(0, LINES).mapToObj("line %d"::formatted).toList());

        long begunNs = System.nanoTime();
        TransferRun.Result result = new TransferRun(new RepeatingPubSub(LINES).driver(), "topic", 5, null)
                .run(List.of(sent), LINES, directory.resolve("received"), List.of());

        double tookSeconds = (System.nanoTime() - begunNs) / 1e9;
        assertThat(result.firstError()).isNull();
        assertThat(result.difference()).isEqualTo(new JsonLines.Difference(0, 1));
        assertThat(result.seconds())
                .as("without the wait for messages that come again")
                .isLessThanOrEqualTo(tookSeconds - TransferRun.QUIET_NS / 1e9);
    }
}
