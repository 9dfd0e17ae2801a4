package io.journalq.bench.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command as users run it, for a moment: brokers of its own in processes of their own. */
class BrokerLoadCommandTest {
    @Test
    void shouldShowWhatEachNumberOfEventLoopsCostsTheBroker(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("result.json");
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream standardOut = System.out;
        System.setOut(new PrintStream(printed, true, UTF_8));
        int exitCode;
        try {
            exitCode = BenchMain.commandLine()
                    .execute(
                            "broker-load",
                            "--shards=1,2",
                            "--duration=500ms",
                            "--warmup=500ms",
                            "--partitions=20",
                            "--partitions-per-request=4",
                            "--connections=4",
                            "--out=" + file);
        } finally {
            System.setOut(standardOut);
        }

        JsonNode document = new ObjectMapper().readTree(file.toFile());
        JsonNode results = document.get("results");
        assertThat(exitCode).as("%s", document).isZero();
        assertThat(results).hasSize(2);
        for (JsonNode result : results) {
            double perRequest = result.get("broker_cpu_us_per_request").asDouble();
            assertThat(perRequest).isPositive();
            assertThat(result.get("broker_cpu_us_per_message").asDouble()).isEqualTo(perRequest / 4, within(0.01));
            assertThat(result.get("wake_ups_per_request").asDouble()).isPositive();
            assertThat(result.get("latency_p99_us").asDouble())
                    .isGreaterThanOrEqualTo(result.get("latency_p50_us").asDouble());
        }
        assertThat(results.get(0).get("shards").asText()).isEqualTo("1");
        assertThat(results.get(0).get("hand_overs_per_request").asDouble()).isZero();
        assertThat(results.get(1).get("shards").asText()).isEqualTo("2");
        assertThat(results.get(1).get("hand_overs_per_request").asDouble()).isPositive();
        assertThat(printed.toString(UTF_8).lines().filter(line -> !line.contains(file.toString())))
                .hasSize(4)
                .allMatch(line -> line.length() <= 80);
    }

    @Test
    void shouldMeasureABrokerOverTls(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("result.json");

        int exitCode = BenchMain.commandLine()
                .execute(
                        "broker-load",
                        "--tls",
                        "--duration=500ms",
                        "--warmup=500ms",
                        "--partitions=20",
                        "--connections=4",
                        "--out=" + file);

        JsonNode document = new ObjectMapper().readTree(file.toFile());
        assertThat(exitCode).as("%s", document).isZero();
        assertThat(document.toString()).contains("\"connection_kind\":\"TLS\"");
        assertThat(document.get("results").get(0).get("requests_per_s").asLong())
                .isPositive();
    }
}
