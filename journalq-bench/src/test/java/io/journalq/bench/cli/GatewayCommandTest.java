package io.journalq.bench.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command as users run it, for a moment: a broker of its own in a process of its own. */
class GatewayCommandTest {
    @ParameterizedTest
    @ValueSource(strings = {"json", "batch", "single"})
    void shouldReceiveAllMessagesAndReportOnlyTheLastRepetitions(String format, @TempDir Path directory)
            throws IOException {
        Path file = directory.resolve("result.json");

        int exitCode = BenchMain.commandLine()
                .execute(
                        "gateway",
                        "--format=" + format,
                        "--size=100",
                        "--messages=50",
                        "--requests=8",
                        "--in-flight=2",
                        "--repetitions=1",
                        "--unreported=1",
                        "--out=" + file);

        JsonNode document = new ObjectMapper().readTree(file.toFile());
        assertThat(exitCode).as("%s", document).isZero();
        assertThat(document.get("results")).hasSize(1);
        JsonNode result = document.get("results").get(0);
        assertThat(result.get("repetition").asInt()).isEqualTo(1);
        assertThat(result.get("messages_per_s").asLong()).isPositive();
        assertThat(result.get("broker_cpu_us_per_message").asDouble()).isPositive();
    }
}
