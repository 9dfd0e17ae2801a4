package io.journalq.bench.profile;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.bench.cli.BenchMain;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FlightRecordingCommandTest {
    @TempDir
    private Path directory;

    @Test
    void shouldRunTheScenarioWithTheOptionsOfThisJvm() throws Exception {
        List<String> options = ManagementFactory.getRuntimeMXBean().getInputArguments();
        assertThat(options).isNotEmpty();

        int exitCode = BenchMain.commandLine()
                .execute("profile", "--results", directory.toString(), "--", "produce", "--help");

        assertThat(exitCode).isZero();
        try (Stream<Path> recordings = Files.list(directory.resolve("recordings"))) {
            RecordedEvent jvm = RecordingFile.readAllEvents(
                            recordings.findFirst().orElseThrow())
                    .stream()
                    .filter(event -> event.getEventType().getName().equals("jdk.JVMInformation"))
                    .findFirst()
                    .orElseThrow();
            assertThat(jvm.getString("jvmArguments").split(" ")).contains(options.toArray(new String[0]));
        }
    }
}
