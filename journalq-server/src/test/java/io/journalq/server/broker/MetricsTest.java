package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ProduceResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a broker counts of its work, and that the documentation tells of all of it. */
class MetricsTest {
    /** Surefire runs in the module's folder. */
    private static final Path OPERATIONS = Path.of("..", "docs", "operations.md");

    private static final Pattern TYPE_LINE = Pattern.compile("(?m)^# TYPE (\\S+) ");
    private static final Pattern NAME = Pattern.compile("`([a-z]+_[a-z0-9_]+)`");
    private static final String SHOWN_AFTER_THE_FIRST_PAUSE = "jvm_gc_pause_seconds";
    private static final int FUTURE_MS = 2 * 3_600_000;

    @TempDir
    private Path folder;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(folder)
                .with("admin.listener", "127.0.0.1:0")
                .with("shards", "1")
                .start();
        broker.createTopic("t", 1, Map.of());
        try (WireClient client = new WireClient(broker.port())) {
            client.produce("t", 0, WireClient.batch(7, new byte[100]));
            client.produce("t", 0, WireClient.batch(3, new byte[100]));
            client.produce("missing", 0, WireClient.batch(1, new byte[1]));
        }
        assertThat(broker.readAll(List.of(new TopicPartition("t", 0)), 10)).hasSize(10);
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldCountWhatWentInAndOutAndWhatWasRefused() throws Exception {
        Map<String, Double> values = values();

        assertThat(values.get("journalq_appended_messages_total{shard=\"0\"}")).isEqualTo(10);
        double appendedBytes = values.get("journalq_appended_bytes_total{shard=\"0\"}");
        assertThat(appendedBytes).isGreaterThan(10 * 100);
        assertThat(values.get("journalq_fetched_bytes_total{shard=\"0\"}")).isGreaterThanOrEqualTo(appendedBytes);
        assertThat(values.get("journalq_requests_total{api=\"Produce\"}")).isEqualTo(3);
        assertThat(values.get("journalq_requests_total{api=\"Fetch\"}")).isPositive();
        assertThat(values.get("journalq_partition_errors_total{api=\"Produce\",error=\"UNKNOWN_TOPIC_OR_PARTITION\"}"))
                .isEqualTo(1);
    }

    @Test
    void shouldTellProducersWhichRecordsAreNotAccepted() throws Exception {
        broker.createTopic("dated", 1, Map.of("message.timestamp.after.max.ms", "1000"));
        try (WireClient client = new WireClient(broker.port())) {
            ProduceResponse.PartitionProduceResponse answer = client.produce(
                    "dated", 0, WireClient.batchAt(System.currentTimeMillis() + FUTURE_MS, 2, new byte[5]));

            assertThat(answer.errorCode()).isEqualTo(ErrorCode.INVALID_TIMESTAMP.code());
            assertThat(answer.errorMessage()).startsWith("2 of 2 records are not accepted: record 0: the timestamp");
            assertThat(answer.recordErrors())
                    .extracting(ProduceResponse.BatchIndexAndErrorMessage::batchIndex)
                    .containsExactly(0, 1);
            assertThat(answer.recordErrors())
                    .extracting(ProduceResponse.BatchIndexAndErrorMessage::batchIndexErrorMessage)
                    .allMatch(message -> message.contains("too far from the broker's time"));
        }
        assertThat(values())
                .containsEntry("journalq_partition_errors_total{api=\"Produce\",error=\"INVALID_TIMESTAMP\"}", 1.0);
    }

    @Test
    void shouldDocumentEveryMetric() throws Exception {
        TreeSet<String> served = new TreeSet<>();
        Matcher types = TYPE_LINE.matcher(broker.page("/metrics").body());
        while (types.find()) {
            served.add(types.group(1));
        }
        SortedSet<String> documented = documented();

        // The broker's own, all of them; of the Java machine's, which differ with it, nothing that does not exist.
        assertThat(documented.stream().filter(name -> name.startsWith("journalq_")))
                .as("metrics in docs/operations.md")
                .containsExactlyElementsOf(served.stream()
                        .filter(name -> name.startsWith("journalq_"))
                        .toList());
        documented.remove(SHOWN_AFTER_THE_FIRST_PAUSE);
        assertThat(served).containsAll(documented);
    }

    /** The names in the first column of the table of metrics. */
    private static SortedSet<String> documented() throws IOException {
        String page = Files.readString(OPERATIONS);
        String section = page.substring(page.indexOf("## Metrics"), page.indexOf("## Logs"));
        TreeSet<String> names = new TreeSet<>();
        for (String line : section.lines().filter(row -> row.startsWith("| `")).toList()) {
            String[] cells = line.split("\\|");
            assertThat(cells).as(line).hasSize(4);
            Matcher matcher = NAME.matcher(cells[1]);
            while (matcher.find()) {
                names.add(matcher.group(1));
            }
        }
        return names;
    }

    private Map<String, Double> values() throws Exception {
        return broker.page("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("journalq_"))
                .collect(Collectors.toMap(
                        line -> line.substring(0, line.lastIndexOf(' ')),
                        line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1))));
    }
}
