package io.journalq.bench.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDrivers;
import io.journalq.bench.peer.PubSubSettings;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands that start several brokers, as users run them, for a moment. */
class ClusterCommandTest {
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path directory;

    private int run(String... arguments) {
        return BenchMain.commandLine().setErr(new PrintWriter(err, true)).execute(arguments);
    }

    private JsonNode live(String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of("live"));
        all.addAll(List.of(arguments));
        all.addAll(List.of(
                "--rate=500",
                "--partitions=6",
                "--message-size=100",
                "--warmup=100ms",
                "--duration=1s",
                "--results=" + directory));
        int exitCode = run(all.toArray(String[]::new));
        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isZero();
        return new ObjectMapper().readTree(directory.resolve("results.json").toFile());
    }

    private static void assertThatThreeBrokersHaveEveryMessage(JsonNode document) {
        assertThat(document.get("brokers").asInt()).isEqualTo(3);
        JsonNode row = document.get("results").get(0);
        assertThat(row.get("check").asText()).isEqualTo("passed");
        assertThat(row.get("published").asLong()).isPositive();
        assertThat(row.get("received").asLong()).isEqualTo(row.get("published").asLong());
        assertThat(row.get("lost").asLong() + row.get("duplicated").asLong()).isZero();
        for (int id = 1; id <= 3; id++) {
            String broker = "broker_" + id;
            assertThat(row.get(broker + "_cpu_us_per_message").asDouble()).isPositive();
            assertThat(row.get(broker + "_max_rss_bytes").asLong()).isPositive();
            assertThat(row.get(broker + "_disk_bytes").asLong()).isPositive();
        }
        assertThat(row.get("disk_difference_percent").asDouble()).isNotNegative();
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"consistent", "eventual", "performance"})
    void shouldAccountForEveryMessageWhenThreeBrokersReplicateIt(String mode) throws IOException {
        JsonNode document = live("--brokers=3", "--mode=" + mode, "--heap=256m", "--broker-setting=shards=1");

        assertThatThreeBrokersHaveEveryMessage(document);
        assertThat(document.get("broker_settings").asText())
                .contains("default.replication.factor=3", "delivery.mode=" + mode, "heap=256m")
                .contains("min.insync.replicas=2");
        assertThat(document.get("client_settings").asText())
                .contains(mode.equals("consistent") ? "acks=all" : "acks=leader");
    }

    @Tag("long")
    @Test
    void shouldMeasureJetStreamWithThreeReplicasWhenItIsInstalled() throws IOException {
        Optional<String> missing = PubSubDrivers.named("jetstream", PubSubSettings.of(Delivery.AT_LEAST_ONCE))
                .missing();
        assumeTrue(missing.isEmpty(), missing.orElse(""));

        JsonNode document = live("--broker=jetstream", "--brokers=3", "--mode=consistent");

        assertThatThreeBrokersHaveEveryMessage(document);
        assertThat(document.get("broker_settings").asText()).contains("jetstream.sync_interval=always");
        assertThat(document.get("topic_settings").asText()).isEqualTo("file storage, 3 replicas");
    }

    @Tag("long")
    @Test
    void shouldRunAProduceCaseOnThreeBrokers() throws IOException {
        Path file = directory.resolve("result.json");

        int exitCode = run(
                "produce",
                "--brokers=3",
                "--mode=consistent",
                "--heap=256m",
                "--case=1",
                "--threads=20",
                "--partitions=6",
                "--duration=500ms",
                "--warmup=100ms",
                "--out=" + file);

        assertThat(err.toString()).isEmpty();
        JsonNode row = new ObjectMapper().readTree(file.toFile()).get("results").get(0);
        assertThat(exitCode).as("%s", row).isZero();
        assertThat(row.get("callers").asText()).contains("acks=all");
        assertThat(row.get("acknowledged").asLong())
                .isPositive()
                .isEqualTo(row.get("in_journal").asLong());
        assertThat(row.get("brokers").asInt()).isEqualTo(3);
        assertThat(row.get("broker_3_cpu_us_per_message").asDouble()).isPositive();
    }

    @Tag("long")
    @Test
    void shouldMeasureAcknowledgementsOfReplicasInTheMatrix() throws IOException {
        int exitCode = run(
                "matrix",
                "--replicas=3",
                "--heap=256m",
                "--acks=all",
                "--deliveries=at-least-once",
                "--sizes=100",
                "--publishers=2",
                "--subscribers=0",
                "--partitions=6",
                "--first-warmup=1s",
                "--warmup=100ms",
                "--duration=300ms",
                "--repetitions=2",
                "--results=" + directory);

        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isZero();
        JsonNode document =
                new ObjectMapper().readTree(directory.resolve("results.json").toFile());
        assertThat(document.toString()).contains("default.replication.factor=3", "acks=all");
        assertThat(document.get("results").get(0).get("throughput_mps").asLong())
                .isPositive();
        assertThat(document.get("results").get(0).get("latency_p50_us").asDouble())
                .isPositive();
        assertThat(document.get("runs")).hasSize(2);
        assertThat(document.get("runs").get(1).get("broker_cpu_us_per_message").asDouble())
                .isPositive();
    }

    @Tag("long")
    @Test
    void shouldMeasureHowFastAKilledBrokerCatchesUp() throws IOException {
        int exitCode = run(
                "catch-up",
                "--brokers=3",
                "--heap=256m",
                "--size=2MiB",
                "--rate=1000",
                "--partitions=6",
                "--warmup=100ms",
                "--results=" + directory);

        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isZero();
        JsonNode row = new ObjectMapper()
                .readTree(directory.resolve("results.json").toFile())
                .get("results")
                .get(0);
        assertThat(row.get("start_s").asDouble()).isPositive();
        assertThat(row.get("catch_up_s").asDouble()).isPositive();
        // The files grow in larger steps than the messages.
        assertThat(row.get("copied_mib").asLong()).isPositive();
        assertThat(row.get("published").asLong()).isGreaterThan(2048);
        assertThat(row.get("failed").asLong()).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "live --brokers 0 | '0' is too small; use 1 or more",
                "live --brokers three | 'three' is not a whole number",
                "live --brokers 8 | a cluster of 8 brokers is too large; use at most 7",
                "live --replicas 3 | 3 replicas need as many brokers, but there is 1; use --brokers 3",
                "live --brokers 3 --replicas 4 | 4 replicas need as many brokers, but there are 3; use --brokers 4",
                "live --brokers 3 --mode sometimes | 'sometimes' is not one of consistent, eventual, performance",
                "live --brokers 3 --acks 2 | '2' is not one of 1, all",
                "live --heap 2 | '2' is not a size of a heap; use one like 512m or 2g",
                "live --mode eventual --delivery synced | --mode and --delivery both say when a message is acknowledged",
                "live --broker kafka --mode performance | only journalq has the mode performance",
                "produce --bootstrap localhost:1 --mode eventual | --heap are of brokers that are started",
                "produce --broker kafka --mode performance | only journalq has the mode performance",
                "compare --brokers 3 --mode performance | only journalq has the mode performance",
                "matrix --bootstrap localhost:1 --replicas 3 | --replicas and --heap are of brokers that are started",
                "matrix --brokers nats --replicas 3 | only one broker of nats can be started",
                "catch-up --brokers 2 | without three replicas, nobody could acknowledge while one is away",
                "live --broker nats --brokers 3 | only one broker of nats can be started",
                "live --brokers 3 --rate 10000000 --duration 10h | the brokers would store 1030054 GiB in",
                "live --bootstrap localhost:1 --brokers 3 | --heap are of brokers that are started; leave them or --bootstrap",
                "live --brokers 3 --broker-setting node.id=1 | the brokers of a cluster cannot have the same node.id",
                "live --broker kafka --brokers 3 --broker-setting log.dirs=/tmp | cannot have the same log.dirs"
            })
    void shouldRefuseClustersThatCannotBe(String command, String reason) {
        int exitCode = run(command.split(" ", -1));

        assertThat(err.toString()).contains(reason);
        assertThat(exitCode).isEqualTo(2);
    }
}
