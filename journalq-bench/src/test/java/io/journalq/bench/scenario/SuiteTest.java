package io.journalq.bench.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.journalq.bench.cli.BenchMain;
import io.journalq.bench.driver.JournalQBroker;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every scenario for a second or so, by its command line, against a broker of its own process. What is looked at holds on a
 * machine of any speed: counts of whole runs, and not what fell into a stretch of time.
 */
@Tag("long")
class SuiteTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static JournalQBroker broker;

    @TempDir
    private Path directory;

    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void startBroker() {
        broker = JournalQBroker.withMetrics(Map.of("shards", "1"));
        broker.start();
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    private int run(String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--bootstrap", broker.bootstrap(), "--results", directory.toString()));
        return BenchMain.commandLine().setErr(new PrintWriter(err, true)).execute(all.toArray(String[]::new));
    }

    private JsonNode result() throws IOException {
        return JSON.readTree(directory.resolve("results.json").toFile()).get("results");
    }

    @ParameterizedTest
    @CsvSource({
        "journalq, at-least-once, 500, 1",
        "journalq, at-most-once, 0, 2",
        "journalq-kafka-clients, synced, 500, 1"
    })
    void shouldAccountForEveryMessageWhenLive(String client, String delivery, String rate, int subscribers)
            throws IOException {
        int exitCode = run(
                "live",
                "--broker=" + client,
                "--delivery=" + delivery,
                "--rate=" + rate,
                "--subscribers=" + subscribers,
                "--topic=live-" + client + delivery,
                "--partitions=4",
                "--message-size=100",
                "--warmup=100ms",
                "--duration=1s");

        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isZero();
        JsonNode row = result().get(0);
        assertThat(row.get("published").asLong()).isPositive();
        assertThat(row.get("received").asLong())
                .isEqualTo(subscribers * row.get("published").asLong());
        assertThat(row.get("lost").asLong()).isZero();
        assertThat(row.get("duplicated").asLong()).isZero();
        assertThat(row.get("end_to_end_p99_us").isNumber()).isTrue();
        assertThat(row.get("max_rss_bytes").asLong()).isPositive();
        assertThat(Files.readAllLines(directory.resolve("samples.csv"))).hasSizeGreaterThan(1);
        assertThat(Files.readString(directory.resolve("stability.html"))).contains("<svg", "Memory of the broker");
        assertThat(directory.resolve("stability.png")).isNotEmptyFile();
    }

    @Test
    void shouldMeasureLatencyAtEachRateWhenAsked() throws IOException {
        int exitCode = run(
                "latency",
                "--rates=100,1000",
                "--partitions=4",
                "--warmup=100ms",
                "--duration=1s",
                "--repetitions=1",
                "--message-size=100");

        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isLessThan(2);
        assertThat(result()).hasSize(2);
        for (JsonNode row : result()) {
            // A slow machine may miss a rate; it loses nothing.
            assertThat(row.get("check").asText()).isIn("passed", "the rate was not reached");
            assertThat(row.get("p9999_us").asDouble())
                    .isGreaterThanOrEqualTo(row.get("p50_us").asDouble());
        }
        assertThat(Files.readString(directory.resolve("journalq-1000-1.hlog"))).contains("Interval_Max");
        assertThat(directory.resolve("latency.html")).isNotEmptyFile();
    }

    @Test
    void shouldMeasureEveryCellWhenAskedForTheMatrix() throws IOException {
        int exitCode = run(
                "matrix",
                "--sizes=100",
                "--first-warmup=200ms",
                "--publishers=1",
                "--subscribers=1,2",
                "--partitions=4",
                "--warmup=100ms",
                "--duration=300ms");

        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isZero();
        assertThat(result()).hasSize(4);
        assertThat(Files.readAllLines(directory.resolve("results.csv")).get(0))
                .isEqualTo("broker,qos,message_size,publishers,subscribers,total_messages,throughput_mps,"
                        + "latency_p50_us,latency_p95_us,latency_p99_us,cpu_percent,memory_bytes");
        for (JsonNode row : result()) {
            assertThat(row).hasSize(12);
            assertThat(row.get("throughput_mps").isNumber()).isTrue();
            assertThat(row.get("memory_bytes").asLong()).isPositive();
        }
        for (String chart : List.of("throughput.png", "latency_p95.png", "latency_p99.png", "matrix.html")) {
            assertThat(directory.resolve(chart)).isNotEmptyFile();
        }
    }

    @Test
    void shouldCompareEveryLineWhenFilesAreTransferred() throws IOException {
        int exitCode = run("transfer", "--senders=1,3", "--counts=250", "--partitions=4", "--keep-files");

        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isZero();
        assertThat(result()).hasSize(2);
        for (JsonNode row : result()) {
            assertThat(row.get("success").asText()).isEqualTo("yes");
            assertThat(row.get("missing").asLong() + row.get("extra").asLong()).isZero();
        }
        assertThat(Files.readAllLines(directory.resolve("received-journalq-3-250.jsonl")))
                .hasSize(750);
    }

    @Test
    void shouldReceiveEveryLineOnceWhenTheBrokerCannotReadThem() throws IOException {
        int exitCode =
                run("transfer", "--sealed", "--brokers=journalq", "--senders=1,3", "--counts=250", "--partitions=4");

        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isZero();
        assertThat(result()).hasSize(8);
        for (JsonNode row : result()) {
            assertThat(row.get("success").asText()).isEqualTo("yes");
            assertThat(row.get("missing").asLong() + row.get("extra").asLong()).isZero();
        }
        assertThat(result().findValuesAsText("protection"))
                .containsExactly(
                        "none",
                        "jqe1",
                        "jqe1-signed",
                        "rsa-per-message",
                        "none",
                        "jqe1",
                        "jqe1-signed",
                        "rsa-per-message");
    }

    @Test
    void shouldMeasureOnlyTheChosenProtections() throws IOException {
        int exitCode = run(
                "transfer",
                "--sealed",
                "--protections=rsa-per-message,none",
                "--brokers=journalq",
                "--senders=1",
                "--counts=250",
                "--partitions=4");

        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isZero();
        assertThat(result().findValuesAsText("protection")).containsExactly("rsa-per-message", "none");
        assertThat(result().findValuesAsText("success")).containsExactly("yes", "yes");
    }

    @Test
    void shouldRefuseProtectionsWhenNothingIsSealed() {
        int exitCode = run("transfer", "--protections=jqe1", "--brokers=journalq", "--counts=250");

        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString())
                .contains("--protections says what --sealed measures")
                .contains("add --sealed");
        assertThat(directory.resolve("results.json")).doesNotExist();
    }

    @Test
    void shouldCatchUpWhenAReaderIsBehind() throws IOException {
        int exitCode =
                run("backlog", "--size=5MiB", "--rate=500", "--partitions=4", "--warmup=100ms", "--duration=500ms");

        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isZero();
        JsonNode row = result().get(0);
        assertThat(row.get("stored_messages").asLong()).isEqualTo(5 * 1024);
        assertThat(row.get("catch_up_mps").asLong()).isPositive();
        assertThat(row.get("check").asText()).isEqualTo("passed");
    }

    @Test
    void shouldComeBackWithEveryPartitionWhenTheBrokerIsKilled() throws IOException {
        int exitCode = BenchMain.commandLine()
                .setErr(new PrintWriter(err, true))
                .execute(
                        "partitions",
                        "--counts=3",
                        "--rate=200",
                        "--warmup=100ms",
                        "--duration=300ms",
                        "--message-size=100",
                        "--results=" + directory);

        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isZero();
        JsonNode row = result().get(0);
        for (String value : List.of("start_s", "memory_bytes", "restart_clean_s", "restart_kill_s")) {
            assertThat(row.get(value).asDouble()).as(value).isPositive();
        }
        assertThat(directory.resolve("partitions.html")).isNotEmptyFile();
    }

    @Test
    void shouldKeepWhatItHasMeasuredWhenOneOfTheBrokersFails() throws IOException {
        // when the second of three brokers allows fewer partitions
        int exitCode = BenchMain.commandLine()
                .setErr(new PrintWriter(err, true))
                .execute(
                        "partitions",
                        "--counts=1,100,2",
                        "--broker-setting=max.partitions=50",
                        "--rate=200",
                        "--warmup=100ms",
                        "--duration=300ms",
                        "--message-size=100",
                        "--results=" + directory);

        // then the others are measured, and what there is of it is kept
        assertThat(exitCode).isEqualTo(1);
        assertThat(result()).extracting(row -> row.get("partitions").asInt()).containsExactly(1, 100, 2);
        assertThat(result().get(0).get("check").asText()).isEqualTo("passed");
        assertThat(result().get(1).get("check").asText()).startsWith("failed: ").contains("max.partitions");
        assertThat(result().get(1).get("start_s").asDouble()).isPositive();
        assertThat(result().get(1).get("throughput_mps").isNull()).isTrue();
        assertThat(result().get(2).get("restart_kill_s").asDouble()).isPositive();
        assertThat(directory.resolve("partitions.html")).isNotEmptyFile();
    }

    @Test
    void shouldReceiveWhatIsPublishedWhenBothHalvesRunApart() throws InterruptedException {
        AtomicInteger subscribed = new AtomicInteger(-1);
        Thread subscriber = new Thread(() -> subscribed.set(half("sub", "--timeout=30s")));
        subscriber.start();
        // Whatever it misses by being late is repeated until it is done.
        while (subscriber.isAlive()) {
            assertThat(half("pub", "--rate=2000")).isZero();
            subscriber.join(10);
        }

        assertThat(subscribed).hasValue(0);
    }

    private int half(String command, String own) {
        return BenchMain.commandLine()
                .execute(
                        command,
                        own,
                        "--bootstrap=" + broker.bootstrap(),
                        "--topic=apart",
                        "--count=200",
                        "--partitions=2",
                        "--message-size=64");
    }
}
