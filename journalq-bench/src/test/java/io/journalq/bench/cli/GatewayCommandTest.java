package io.journalq.bench.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.journalq.bench.peer.NatsWebSockets;
import io.journalq.bench.peer.RabbitWebStomp;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command as users run it, for a moment: brokers of its own in processes of their own. */
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
        run(arguments);

        JsonNode document = new ObjectMapper().readTree(file.toFile());
        assertThat(document.toString()).contains("\"connection_kind\":\"" + connections + "\"");
        assertThat(document.get("results")).hasSize(1);
        JsonNode result = document.get("results").get(0);
        assertThat(result.get("broker").asText()).isEqualTo("journalq");
        assertThat(result.get("repetition").asInt()).isEqualTo(1);
        assertThat(result.get("messages_per_s").asLong()).isPositive();
        assertThat(result.get("broker_cpu_us_per_message").asDouble()).isPositive();
    }

    @ParameterizedTest
    @CsvSource({
        "posts, posts_per_s, post_p50_us, plain",
        "events, events_per_s, event_p99_us, plain",
        "events, events_per_s, event_p99_us, TLS",
        "stuck, kafka_messages_per_s, kafka_alone_p99_us, plain",
        "search, mb_per_s, post_max_us, plain"
    })
    void shouldMeasureTheCasesOfJournalQ(
            String name, String rate, String latency, String connections, @TempDir Path directory) throws IOException {
        Path file = directory.resolve("result.json");
        List<String> arguments = new ArrayList<>(List.of(
                "gateway",
                "--case=" + name,
                "--size=100",
                "--messages=50",
                "--requests=9",
                "--in-flight=2",
                "--rate=50",
                "--duration=1s",
                "--readers=3",
                "--posters=2",
                "--repetitions=1",
                "--unreported=" + (name.equals("stuck") ? 0 : 1),
                "--out=" + file));
        if (connections.equals("TLS")) {
            arguments.add("--tls");
        }

        run(arguments);

        JsonNode document = new ObjectMapper().readTree(file.toFile());
        assertThat(document.get("case").asText()).isEqualTo(name);
        assertThat(document.get("results")).hasSize(1);
        JsonNode result = document.get("results").get(0);
        assertThat(result.get("repetition").asInt()).isEqualTo(1);
        assertThat(result.get(rate).asDouble()).isPositive();
        assertThat(result.get(latency).asDouble()).isPositive();
        assertThat(result.get("loop_iterations_over_4_2_ms").asLong()).isNotNegative();
        assertThat(result.get("broker_rss_mib").asLong()).isPositive();
    }

    @Test
    void shouldMeasureNatsBesideJournalQWhenItIsInstalled(@TempDir Path directory) throws IOException {
        Optional<String> missing = new NatsWebSockets("nats", 1, 1, Map.of()).missing();
        assumeTrue(missing.isEmpty(), missing.orElse(""));
        Path file = directory.resolve("result.json");

        run(List.of(
                "gateway",
                "--brokers=journalq,nats,jetstream",
                "--size=1000",
                "--messages=300",
                "--requests=9",
                "--in-flight=10",
                "--repetitions=2",
                "--unreported=0",
                "--out=" + file));

        JsonNode document = new ObjectMapper().readTree(file.toFile());
        List<String> measured = new ArrayList<>();
        for (JsonNode result : document.get("results")) {
            measured.add(
                    result.get("broker").asText() + result.get("repetition").asInt());
            assertThat(result.get("messages_per_s").asLong()).isPositive();
            assertThat(result.get("broker_rss_mib").asLong()).isPositive();
        }
        assertThat(measured).containsExactly("journalq1", "nats1", "jetstream1", "journalq2", "nats2", "jetstream2");
        assertThat(document.get("nats").asText()).contains("max_pending");
    }

    @Test
    void shouldMeasureRabbitMqBesideJournalQWhenItIsInstalled(@TempDir Path directory) throws IOException {
        Optional<String> missing = new RabbitWebStomp(Map.of()).missing();
        assumeTrue(missing.isEmpty(), missing.orElse(""));
        Path file = directory.resolve("result.json");

        run(List.of(
                "gateway",
                "--brokers=web-stomp,journalq",
                "--size=1000",
                "--messages=300",
                "--requests=9",
                "--in-flight=10",
                "--repetitions=2",
                "--unreported=0",
                "--out=" + file));

        JsonNode document = new ObjectMapper().readTree(file.toFile());
        List<String> measured = new ArrayList<>();
        for (JsonNode result : document.get("results")) {
            measured.add(
                    result.get("broker").asText() + result.get("repetition").asInt());
            assertThat(result.get("messages_per_s").asLong()).isPositive();
            assertThat(result.get("broker_rss_mib").asLong()).isPositive();
        }
        assertThat(measured).containsExactly("web-stomp1", "journalq1", "web-stomp2", "journalq2");
        assertThat(document.get("web-stomp").asText()).contains("RabbitMQ 3", "streams");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nats | --format=single | --format single does not apply to nats; use --format json",
                "journalq,jetstream | --format=batch | --format batch does not apply to jetstream",
                "journalq,nats | --case=search | --case search does not apply to nats; use --brokers journalq",
                "nats | --tls | --tls does not apply to nats; use --brokers journalq"
            })
    void shouldExitWithTwoWhenAnOptionDoesNotApplyToAPeer(String brokers, String argument, String problem) {
        StringWriter err = new StringWriter();

        int exitCode = BenchMain.commandLine()
                .setErr(new PrintWriter(err, true))
                .execute("gateway", "--brokers=" + brokers, argument);

        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains(problem);
    }

    /** Requires success; what the command printed as an error says why there is none. */
    private static void run(List<String> arguments) {
        StringWriter err = new StringWriter();

        int exitCode =
                BenchMain.commandLine().setErr(new PrintWriter(err, true)).execute(arguments.toArray(String[]::new));

        assertThat(exitCode).as("%s: %s", arguments, err).isZero();
    }
}
