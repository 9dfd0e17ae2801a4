package io.journalq.bench.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FlameGraphTest {
    private static final long DEADLINE_NS = 30_000_000_000L;

    @TempDir
    private Path directory;

    @Test
    void shouldShowWhereTheTimeWentWhenAProgramWasBusy() throws IOException {
        Path recording = directory.resolve("busy.jfr");
        Path page = directory.resolve("busy.html");
        long startNs = System.nanoTime();
        try (Recording running = new Recording()) {
            running.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(10));
            running.enable("jdk.JVMInformation");
            running.start();
            do {
                assertThat(busy(2_000_000)).isNotZero();
                running.dump(recording);
                FlameGraph.write(recording, page);
            } while (!Files.readString(page).contains("FlameGraphTest.busy")
                    && System.nanoTime() - startNs < DEADLINE_NS);
        }

        assertThat(Files.readString(page))
                .contains("<title>all, ", "io.journalq.bench.profile.FlameGraphTest.busy, ")
                .doesNotContain("<init>");
        assertThat(FlameGraph.programOf(recording)).isNotEmpty();
    }

    @Test
    void shouldNotShowAThreadThatWaitsForAProcess() throws Exception {
        Path recording = directory.resolve("waiting.jfr");
        Path page = directory.resolve("waiting.html");
        Process process = new ProcessBuilder("sleep", "30").start();
        try (Recording running = new Recording()) {
            assertThat(process.onExit()).isNotDone();
            running.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(10));
            running.enable("jdk.NativeMethodSample").withPeriod(Duration.ofMillis(10));
            running.start();
            assertThat(busy(100_000_000)).isNotZero();
            running.dump(recording);
        } finally {
            process.destroyForcibly();
        }
        assertThat(RecordingFile.readAllEvents(recording))
                .anyMatch(event -> event.toString().contains("waitForProcessExit"));

        FlameGraph.write(recording, page);

        assertThat(Files.readString(page)).doesNotContain("waitForProcessExit");
    }

    private static long busy(int rounds) {
        SplittableRandom random = new SplittableRandom(3);
        long sum = 1;
        for (int i = 0; i < rounds; i++) {
            sum += random.nextLong() | 1;
        }
        return sum;
    }
}
