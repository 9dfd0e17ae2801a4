package io.journalq.bench.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command as users run it, for a moment: a broker of its own in a process of its own. */
class GatewayCommandTest {
    @ParameterizedTest
    @CsvSource({"json, plain", "batch, plain", "single, plain", "json, TLS"})
    void shouldReceiveAllMessagesAndReportOnlyTheLastRepetitions(
            String format, String connections, @TempDir Path directory) throws IOException {
        Path file = directory.resolve("result.json");

        List<String> arguments = new ArrayList<>(List.of(
                "gateway",
                "--format=" + format,
                "--size=100",
                "--messages=50",
                "--requests=8",
                "--in-flight=2",
                "--repetitions=1",
                "--unreported=1",
                "--out=" + file));
        if (connections.equals("TLS")) {
            arguments.add("--tls");
        }
        int exitCode = BenchMain.commandLine().execute(arguments.toArray(String[]::new));

        JsonNode document = new ObjectMapper().readTree(file.toFile());
        assertThat(exitCode).as("%s", document).isZero();
        assertThat(document.toString()).contains("\"connection_kind\":\"" + connections + "\"");
        assertThat(document.get("results")).hasSize(1);
        JsonNode result = document.get("results").get(0);
        assertThat(result.get("repetition").asInt()).isEqualTo(1);
        assertThat(result.get("messages_per_s").asLong()).isPositive();
        assertThat(result.get("broker_cpu_us_per_message").asDouble()).isPositive();
    }
}
