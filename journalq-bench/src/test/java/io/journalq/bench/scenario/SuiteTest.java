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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every scenario for a second or so, by its command line, against a broker of its own process. */
class SuiteTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static JournalQBroker broker;

    @TempDir
    private Path folder;

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
        all.addAll(List.of("--bootstrap", broker.bootstrap(), "--results", folder.toString()));
        return BenchMain.commandLine().setErr(new PrintWriter(err, true)).execute(all.toArray(String[]::new));
    }

    private JsonNode result() throws IOException {
        return JSON.readTree(folder.resolve("results.json").toFile()).get("results");
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
        assertThat(row.get("end_to_end_p99_us").asDouble()).isPositive();
        assertThat(row.get("max_rss_bytes").asLong()).isPositive();
        assertThat(Files.readAllLines(folder.resolve("samples.csv"))).hasSizeGreaterThan(1);
        assertThat(Files.readString(folder.resolve("stability.html"))).contains("<svg", "Memory of the broker");
        assertThat(folder.resolve("stability.png")).isNotEmptyFile();
    }
}
