package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ProduceResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks the values of metrics, and that their names follow the Prometheus conventions. */
class MetricsTest {
    private static final Pattern TYPE_LINE = Pattern.compile("(?m)^# TYPE (journalq_\\S+) (\\S+)$");
    private static final Pattern HELP_LINE = Pattern.compile("(?m)^# HELP (journalq_\\S+) (.*)$");
    private static final Pattern SENTENCE = Pattern.compile("[A-Z0-9].*\\.");

    /** The base units of Prometheus are seconds, bytes and ratios. */
    private static final Set<String> OTHER_UNITS = Set.of(
            "ns",
            "nanos",
            "us",
            "micros",
            "ms",
            "millis",
            "milliseconds",
            "minutes",
            "hours",
            "days",
            "bits",
            "kb",
            "kib",
            "mb",
            "mib",
            "kilobytes",
            "megabytes",
            "percent",
            "percentage");

    private static final Set<String> METRIC_TYPES = Set.of("gauge", "counter", "histogram", "summary");
    private static final int FUTURE_MS = 2 * 3_600_000;

    @TempDir
    private Path directory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory)
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

        assertThat(values.get("journalq_appended_records_total{shard=\"0\"}")).isEqualTo(10);
        double appendedBytes = values.get("journalq_appended_bytes_total{shard=\"0\"}");
        assertThat(appendedBytes).isGreaterThan(10 * 100);
        assertThat(values.get("journalq_fetched_bytes_total{shard=\"0\"}")).isGreaterThanOrEqualTo(appendedBytes);
        assertThat(values.get("journalq_requests_total{api=\"Produce\"}")).isEqualTo(3);
        assertThat(values.get("journalq_requests_total{api=\"Fetch\"}")).isPositive();
        assertThat(values.get("journalq_partition_errors_total{api=\"Produce\",error=\"UNKNOWN_TOPIC_OR_PARTITION\"}"))
                .isEqualTo(1);
    }

    @Test
    void shouldCountRecordsAndBytesOfEachTopic() throws Exception {
        Map<String, Double> values = values();

        assertThat(values)
                .containsEntry("journalq_topic_appended_records_total{topic=\"t\"}", 10.0)
                .containsEntry(
                        "journalq_topic_appended_bytes_total{topic=\"t\"}",
                        values.get("journalq_appended_bytes_total{shard=\"0\"}"))
                .containsEntry("journalq_topic_fetched_records_total{topic=\"t\"}", 10.0)
                .containsEntry(
                        "journalq_topic_fetched_bytes_total{topic=\"t\"}",
                        values.get("journalq_fetched_bytes_total{shard=\"0\"}"))
                .containsEntry("journalq_topics_without_series", 0.0)
                .doesNotContainKey("journalq_topic_appended_records_total{topic=\"(other)\"}");
    }

    @Test
    void shouldStartNoMoreEventLoopsThanThereAreProcessors() throws Exception {
        broker.stop();
        broker.with("shards", "1000").start();

        assertThat(values().keySet())
                .filteredOn(name -> name.startsWith("journalq_appended_records_total{"))
                .hasSize(Runtime.getRuntime().availableProcessors());
    }

    @Test
    void shouldSumUpTheTopicsBeyondTheMaximumWhenThereAreMore() throws Exception {
        // given
        broker.stop();
        broker.with("metrics.topics.max", "1").with("shards", "2").start();
        broker.createTopic("u", 2, Map.of());
        broker.createTopic("v", 1, Map.of());
        try (WireClient client = new WireClient(broker.port())) {
            client.produce("t", 0, WireClient.batch(1, new byte[1]));
            client.produce("u", 0, WireClient.batch(2, new byte[1]));
            client.produce("u", 1, WireClient.batch(3, new byte[1]));
            client.produce("v", 0, WireClient.batch(4, new byte[1]));
        }
        broker.readAll(List.of(new TopicPartition("u", 0), new TopicPartition("u", 1)), 5);

        // when
        Map<String, Double> values = values();

        // then
        assertThat(values)
                .containsEntry("journalq_topic_appended_records_total{topic=\"t\"}", 1.0)
                .containsEntry("journalq_topic_appended_records_total{topic=\"(other)\"}", 9.0)
                .containsEntry("journalq_topic_fetched_records_total{topic=\"(other)\"}", 5.0)
                .containsEntry("journalq_topics_without_series", 2.0);
        assertThat(values.keySet())
                .filteredOn(name -> name.contains("topic=\"u\""))
                .isEmpty();
    }

    @Test
    void shouldGiveASeriesToALaterTopicWhenOneIsDeleted() throws Exception {
        // given
        broker.stop();
        broker.with("metrics.topics.max", "1").start();
        try (Admin admin = broker.admin()) {
            admin.deleteTopics(List.of("t")).all().get(20, TimeUnit.SECONDS);
        }
        broker.createTopic("w", 1, Map.of());

        // when
        try (WireClient client = new WireClient(broker.port())) {
            client.produce("w", 0, WireClient.batch(2, new byte[1]));
        }

        // then
        assertThat(values())
                .containsEntry("journalq_topic_appended_records_total{topic=\"w\"}", 2.0)
                .doesNotContainKey("journalq_topic_appended_records_total{topic=\"t\"}");
    }

    @Test
    void shouldMeasureTheTimeOfRequestsByApi() throws Exception {
        Map<String, Double> values = values();

        assertThat(values).containsEntry("journalq_request_duration_seconds_count{api=\"Produce\"}", 3.0);
        assertThat(values).containsEntry("journalq_request_duration_seconds_bucket{api=\"Produce\",le=\"+Inf\"}", 3.0);
        assertThat(values.get("journalq_request_duration_seconds_sum{api=\"Produce\"}"))
                .isBetween(1e-6, 30.0);
        assertThat(values.get("journalq_request_duration_seconds_count{api=\"Fetch\"}"))
                .isPositive();
    }

    @Test
    void shouldNameTheVersions() throws Exception {
        assertThat(values())
                .containsEntry(
                        "journalq_build_info{java_version=\"" + Runtime.version() + "\",version=\"(not packaged)\"}",
                        1.0);
    }

    @Test
    void shouldMeasureTheLagOfGroupsInRecordsAndSeconds() throws Exception {
        // given a group with a name that needs escapes, and one that has read everything
        broker.createTopic("old", 2, Map.of());
        long minuteAgoMs = System.currentTimeMillis() - 60_000;
        try (WireClient client = new WireClient(broker.port())) {
            client.produce("old", 0, WireClient.batchAt(minuteAgoMs - 3_600_000, 4, new byte[5]));
            client.produce("old", 0, WireClient.batchAt(minuteAgoMs, 2, new byte[5]));
            client.produce("old", 1, WireClient.batch(3, new byte[5]));
        }
        commit("say \"hi\"\n", Map.of(new TopicPartition("old", 0), 4L, new TopicPartition("old", 1), 0L));
        commit("done", Map.of(new TopicPartition("old", 0), 6L, new TopicPartition("t", 0), 10L));

        // when
        Map<String, Double> values = valuesWithLags();

        // then
        String labels = "{group=\"say \\\"hi\\\"\\n\",topic=\"old\"}";
        assertThat(values)
                .containsEntry("journalq_group_lag_records" + labels, 5.0)
                .containsEntry("journalq_group_lag_records{group=\"done\",topic=\"old\"}", 0.0)
                .containsEntry("journalq_group_lag_records{group=\"done\",topic=\"t\"}", 0.0)
                .containsEntry("journalq_group_lag_seconds{group=\"done\",topic=\"old\"}", 0.0)
                .containsEntry("journalq_group_lags_left_out", 0.0);
        assertThat(values.get("journalq_group_lag_seconds" + labels)).isBetween(60.0, 120.0);
    }

    @Test
    void shouldCountTheLagsBeyondTheMaximumWhenThereAreMoreGroups() throws Exception {
        // given
        broker.stop();
        broker.with("metrics.groups.max", "2").start();
        for (int i = 0; i < 5; i++) {
            commit("group-" + i, Map.of(new TopicPartition("t", 0), 1L));
        }

        // when
        Map<String, Double> values = valuesWithLags();

        // then
        assertThat(values).containsEntry("journalq_group_lags_left_out", 3.0);
        assertThat(values.keySet())
                .filteredOn(name -> name.startsWith("journalq_group_lag_records"))
                .hasSize(2);
    }

    private void commit(String group, Map<TopicPartition, Long> offsets) throws Exception {
        try (Admin admin = broker.admin()) {
            admin.alterConsumerGroupOffsets(
                            group,
                            offsets.entrySet().stream()
                                    .collect(Collectors.toMap(
                                            Map.Entry::getKey, offset -> new OffsetAndMetadata(offset.getValue()))))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldTellProducersWhichRecordsAreNotAccepted() throws Exception {
        broker.createTopic("dated", 1, Map.of("message.timestamp.after.max.ms", "1000"));
        try (WireClient client = new WireClient(broker.port())) {
            ProduceResponse.PartitionProduceResponse response = client.produce(
                    "dated", 0, WireClient.batchAt(System.currentTimeMillis() + FUTURE_MS, 2, new byte[5]));

            assertThat(response.errorCode()).isEqualTo(ErrorCode.INVALID_TIMESTAMP.code());
            assertThat(response.errorMessage()).startsWith("2 of 2 records are not accepted: record 0: the timestamp");
            assertThat(response.recordErrors())
                    .extracting(ProduceResponse.BatchIndexAndErrorMessage::batchIndex)
                    .containsExactly(0, 1);
            assertThat(response.recordErrors())
                    .extracting(ProduceResponse.BatchIndexAndErrorMessage::batchIndexErrorMessage)
                    .allMatch(message -> message.contains("too far from the broker's time"));
        }
        assertThat(values())
                .containsEntry("journalq_partition_errors_total{api=\"Produce\",error=\"INVALID_TIMESTAMP\"}", 1.0);
    }

    @Test
    void shouldFollowThePrometheusConventionsWhenMetricsAreServed() throws Exception {
        assertThat(problems(broker.page("/metrics").body())).isEmpty();
    }

    @Test
    void shouldNameTheProblemWhenAMetricBreaksAConvention() {
        String page =
                """
                # HELP journalq_paused_ms_total Time paused.
                # TYPE journalq_paused_ms_total counter
                # HELP journalq_dirty_percent Largest part.
                # TYPE journalq_dirty_percent gauge
                # HELP journalq_waiting_total Waiting requests.
                # TYPE journalq_waiting_total gauge
                # HELP journalq_runs runs
                # TYPE journalq_runs counter
                # TYPE journalq_bytes gauge
                # HELP journalq_used_bytes Used memory.
                # TYPE journalq_used_bytes gauge
                """;

        assertThat(problems(page))
                .containsExactly(
                        "journalq_paused_ms_total: not in base units: ms",
                        "journalq_dirty_percent: not in base units: percent",
                        "journalq_waiting_total: not a counter, but ends with _total",
                        "journalq_runs: a counter that does not end with _total",
                        "journalq_runs: HELP is not a sentence: runs",
                        "journalq_bytes: no HELP");
    }

    /** The rules of {@code promtool check metrics}, and that a HELP text is a sentence. */
    private static List<String> problems(String page) {
        Map<String, String> helps = new HashMap<>();
        Matcher help = HELP_LINE.matcher(page);
        while (help.find()) {
            helps.put(help.group(1), help.group(2));
        }
        List<String> problems = new ArrayList<>();
        Matcher type = TYPE_LINE.matcher(page);
        while (type.find()) {
            String name = type.group(1);
            if (type.group(2).equals("counter") && !name.endsWith("_total")) {
                problems.add(name + ": a counter that does not end with _total");
            }
            if (!type.group(2).equals("counter") && name.endsWith("_total")) {
                problems.add(name + ": not a counter, but ends with _total");
            }
            for (String word : name.split("_", -1)) {
                if (OTHER_UNITS.contains(word)) {
                    problems.add(name + ": not in base units: " + word);
                }
                if (METRIC_TYPES.contains(word)) {
                    problems.add(name + ": names its type: " + word);
                }
            }
            if (!helps.containsKey(name)) {
                problems.add(name + ": no HELP");
            } else if (!SENTENCE.matcher(helps.get(name)).matches()) {
                problems.add(name + ": HELP is not a sentence: " + helps.get(name));
            }
        }
        return problems;
    }

    /**
     * A scrape has the broker compute the lags of groups, but shows those of before if that takes longer than a second.
     */
    private Map<String, Double> valuesWithLags() throws Exception {
        Map<String, Double> values = values();
        while (values.keySet().stream().noneMatch(name -> name.startsWith("journalq_group_lag_records"))) {
            values = values();
        }
        return values;
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
