package io.journalq.bench.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.traffic.Traffic;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class LiveRunTest {
    private static final int PER_SECOND = 500;

    @TempDir
    private Path directory;

    @CommandLine.Command
    private static final class Results {
        @CommandLine.Mixin
        private ResultDirectory directory;
    }

    @Test
    void shouldCountAMessageThatComesAgainAfterTheLastOne() throws InterruptedException {
        Results results = new Results();
        new CommandLine(results).parseArgs("--results", directory.toString());

        LiveResult result = new LiveRun(
                        new RepeatingPubSub(1).driver(),
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
