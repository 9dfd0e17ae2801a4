package io.journalq.server.broker;

import static io.journalq.server.broker.GatewayClient.JSON;
import static io.journalq.server.broker.GatewayClient.NDJSON;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupDescribeRequest;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The routes of the gateway that show and change topics, configurations, groups, quotas and transactions. */
@Timeout(120)
class GatewayOperationsTest {
    private static final int SMALL_BUFFER_BYTES = 4 * 1024;

    @TempDir
    private static Path directory;

    private static TestBroker broker;
    private static GatewayClient gateway;
    private static int names;

    @BeforeAll
    static void start() throws Exception {
        broker = new TestBroker(directory)
                .with("gateway.listener", "127.0.0.1:0")
                .with("shards", "2")
                .start();
        gateway = new GatewayClient(broker.gatewayPort());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static String name() {
        names++;
        return "op" + names;
    }

    private static String topic(int partitions) throws Exception {
        String topic = name();
        broker.createTopic(topic, partitions, Map.of());
        return topic;
    }

    private static String get(String path) throws Exception {
        HttpResponse<String> response = gateway.get(path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    private static String post(String path, String body) throws Exception {
        HttpResponse<String> response = gateway.post(path, JSON, body);
        assertThat(response.statusCode()).as(response.body()).isBetween(200, 201);
        return response.body();
    }

    private static HttpResponse<String> send(String method, String path, String body) throws Exception {
        return gateway.send(
                gateway.request(path).header("Content-Type", JSON).method(method, BodyPublishers.ofString(body)));
    }

    private static void append(String topic, int records) throws Exception {
        gateway.post("/v1/topics/" + topic + "/records", NDJSON, "{\"value\":\"x\"}\n".repeat(records));
    }

    private static void commit(String group, String topic, long offset) throws Exception {
        try (Admin admin = broker.admin()) {
            admin.alterConsumerGroupOffsets(
                            group, Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(offset, "by a test")))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }
    }

    private static long committed(String group, String topic) throws Exception {
        try (Admin admin = broker.admin()) {
            return admin.listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get(20, TimeUnit.SECONDS)
                    .get(new TopicPartition(topic, 0))
                    .offset();
        }
    }

    @Test
    void shouldShowTopicsWithTheirRecordsAndSizesWhenListed() throws Exception {
        String topic = topic(3);
        append(topic, 7);

        assertThat(get("/v1/topics?query=" + topic.toUpperCase(java.util.Locale.ROOT)))
                .contains("\"matching\":1,")
                .contains(
                        "{\"name\":\"" + topic
                                + "\",\"partitions\":3,\"replicationFactor\":1,\"underReplicated\":0,\"offline\":0,\"records\":7,");
        assertThat(get("/v1/topics/" + topic)).contains("\"records\":7").doesNotContain("\"sizeBytes\":0");
        assertThat(get("/v1/topics/" + topic + "/partitions?sort=-partition"))
                .contains("\"items\":[{\"partition\":2,\"leader\":0,")
                .contains("\"inSync\":[0]");
        assertThat(gateway.get("/v1/topics/absent").statusCode()).isEqualTo(404);
    }

    @Test
    void shouldReturnEachTopicOnceWhenPagesAreFollowedInAnyOrder() throws Exception {
        List<String> expected = new ArrayList<>();
        String prefix = name() + "-";
        for (int i = 0; i < 23; i++) {
            broker.createTopic(prefix + i, 1 + i % 3, Map.of());
            expected.add(prefix + i);
        }
        for (String sort : List.of("name", "-name", "partitions", "-sizeBytes")) {
            List<String> found = new ArrayList<>();
            String cursor = "";
            int pages = 0;
            do {
                String page = get("/v1/topics?limit=5&query=" + prefix + "&sort=" + sort + cursor);
                Matcher item = Pattern.compile("\"name\":\"([^\"]+)\"").matcher(page);
                while (item.find()) {
                    found.add(item.group(1));
                }
                Matcher next = Pattern.compile("\"cursor\":\"([^\"]+)\"").matcher(page);
                cursor = next.find() ? "&cursor=" + next.group(1) : null;
                pages++;
            } while (cursor != null);
            assertThat(found).as(sort).containsExactlyInAnyOrderElementsOf(expected);
            assertThat(pages).isEqualTo(5);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "limit=0, limit is not",
        "limit=501, limit is not",
        "sort=colour, cannot be sorted",
        "cursor=%21, the cursor is not",
        "colour=red, no parameter"
    })
    void shouldSayWhatIsWrongWhenAListIsAskedForInAnUnknownWay(String parameters, String detail) throws Exception {
        HttpResponse<String> response = gateway.get("/v1/topics?" + parameters);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(response.body()).contains(detail).contains("\"remedy\":");
    }

    @Test
    void shouldCreateGrowTruncateAndDeleteATopicWhenAsked() throws Exception {
        String topic = name();
        String created = post(
                "/v1/topics", "{\"name\":\"" + topic + "\",\"partitions\":2,\"configs\":{\"retention.ms\":86400000}}");
        assertThat(created).contains("\"partitions\":2").contains("\"executed\":true");
        assertThat(gateway.post("/v1/topics", JSON, "{\"name\":\"" + topic + "\"}")
                        .statusCode())
                .isEqualTo(409);
        append(topic, 6);

        // a preview changes nothing
        assertThat(post("/v1/topics/" + topic + "/partitions", "{\"partitions\":4}"))
                .contains("\"before\":2,\"partitions\":4,\"executed\":false");
        assertThat(get("/v1/topics/" + topic)).contains("\"partitions\":2");
        post("/v1/topics/" + topic + "/partitions", "{\"partitions\":4,\"execute\":true}");
        assertThat(get("/v1/topics/" + topic)).contains("\"partitions\":4");

        assertThat(post("/v1/topics/" + topic + "/truncate", "{}")).contains("\"records\":6,\"executed\":false");
        assertThat(get("/v1/topics/" + topic)).contains("\"records\":6");
        post("/v1/topics/" + topic + "/truncate", "{\"execute\":true}");
        assertThat(get("/v1/topics/" + topic)).contains("\"records\":0");

        assertThat(send("DELETE", "/v1/topics/" + topic, "").statusCode()).isEqualTo(200);
        assertThat(gateway.get("/v1/topics/" + topic).statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"name\":\"a b\"}|422",
                "{\"name\":\"t\",\"partitions\":0}|400",
                "{\"name\":\"t\",\"colour\":1}|400",
                "{\"name\":7}|400",
                "{\"name\":\"t\",\"name\":\"u\"}|400",
                "[]|400",
                "{\"name\":|400",
                "{\"name\":\"t\",\"configs\":{\"retention.ms\":\"soon\"}}|422"
            })
    void shouldCreateNothingWhenTheBodyIsInvalid(String body, int status) throws Exception {
        HttpResponse<String> response = gateway.post("/v1/topics", JSON, body);

        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(gateway.get("/v1/topics/t").statusCode()).isEqualTo(404);
    }

    @Test
    void shouldChangeAConfigurationOnlyWhenExecutionIsAskedFor() throws Exception {
        String path = "/v1/topics/" + topic(1) + "/configs";
        String change = "{\"set\":{\"retention.ms\":\"1h\"}";

        HttpResponse<String> preview = send("PATCH", path, change + "}");
        assertThat(preview.body())
                .contains("{\"name\":\"retention.ms\",\"from\":\"604800000\",\"to\":\"3600000\"}")
                .contains("\"executed\":false");
        assertThat(get(path + "?query=retention.ms")).contains("\"value\":\"604800000\"");

        send("PATCH", path, change + ",\"execute\":true}");
        assertThat(get(path + "?query=retention.ms"))
                .contains("\"value\":\"3600000\",\"source\":\"topic\",\"default\":\"604800000\"")
                .contains("\"unit\":\"ms\"")
                .contains("\"documentation\":\"");
        HttpResponse<String> reset = send("PATCH", path, "{\"reset\":[\"retention.ms\"],\"execute\":true}");
        assertThat(reset.body()).contains("\"from\":\"3600000\",\"to\":\"604800000\"");
        assertThat(send("PATCH", path, "{\"set\":{\"retention.mz\":1}}").statusCode())
                .isEqualTo(422);
        assertThat(get("/v1/brokers/0/configs?query=gateway.listener")).contains("\"readOnly\":true");
    }

    @Test
    void shouldShowTheValueOfTheBrokerWhenASettingOfAGroupIsReset() throws Exception {
        String path = "/v1/groups/" + name() + "/configs";
        assertThat(send("PATCH", path, "{\"set\":{\"consumer.session.timeout.ms\":\"50s\"},\"execute\":true}")
                        .statusCode())
                .isEqualTo(200);

        HttpResponse<String> preview = send("PATCH", path, "{\"reset\":[\"consumer.session.timeout.ms\"]}");

        assertThat(preview.body()).contains("\"from\":\"50000\",\"to\":\"45000\"");
        assertThat(get(path + "?query=consumer.session.timeout.ms")).contains("\"default\":\"45000\"");
    }

    @Test
    void shouldRefuseToResetAConfigurationThatDoesNotExist() throws Exception {
        for (String resource : List.of("topics/" + topic(1), "groups/" + name())) {
            HttpResponse<String> reset =
                    send("PATCH", "/v1/" + resource + "/configs", "{\"reset\":[\"retention.mz\"],\"execute\":true}");
            assertThat(reset.statusCode()).as(reset.body()).isEqualTo(422);
            assertThat(reset.body()).contains("retention.mz");
        }
        // but Kafka's names exist, too
        assertThat(send("PATCH", "/v1/topics/" + topic(1) + "/configs", "{\"reset\":[\"flush.ms\"]}")
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    void shouldSayThatAResetChangesNothingWhenTheResourceItselfSetsNoValue() throws Exception {
        String topic = topic(1);
        try (Admin admin = broker.admin()) {
            alterForEveryBroker(admin, AlterConfigOp.OpType.SET);
            for (String resource : List.of("topics/" + topic, "brokers/0")) {
                String path = "/v1/" + resource + "/configs";

                HttpResponse<String> reset =
                        send("PATCH", path, "{\"reset\":[\"delete.retention.ms\"],\"execute\":true}");

                assertThat(reset.body()).as(path).contains("\"from\":\"3600000\",\"to\":\"3600000\"");
                assertThat(get(path + "?query=delete.retention.ms"))
                        .contains("\"value\":\"3600000\"")
                        .contains("\"inherited\":\"3600000\"");
            }
        } finally {
            try (Admin admin = broker.admin()) {
                alterForEveryBroker(admin, AlterConfigOp.OpType.DELETE);
            }
        }
    }

    private static void alterForEveryBroker(Admin admin, AlterConfigOp.OpType type) throws Exception {
        admin.incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.BROKER, ""),
                        List.of(new AlterConfigOp(new ConfigEntry("delete.retention.ms", "3600000"), type))))
                .all()
                .get(20, TimeUnit.SECONDS);
    }

    @Test
    void shouldFindPartitionsByTheirNumbersAsTheyAreShown() throws Exception {
        String topic = topic(12);
        String group = name();
        commit(group, topic, 0);

        assertThat(get("/v1/topics/" + topic + "/partitions?query=0")).contains("\"matching\":2,");
        assertThat(get("/v1/topics/" + topic + "/partitions?query=11")).contains("\"matching\":1,");
        assertThat(get("/v1/groups/" + group + "/offsets?query=:00")).contains("\"matching\":0,");
    }

    @Test
    void shouldShowLagInRecordsAndTimeWhenAGroupIsBehind() throws Exception {
        String topic = topic(1);
        String group = name();
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = 0; i < 5; i++) {
                producer.send(new ProducerRecord<>(topic, 0, System.currentTimeMillis() - 60_000, null, new byte[] {1}))
                        .get();
            }
        }
        commit(group, topic, 2);

        assertThat(get("/v1/groups?query=" + group + "&sort=-lag"))
                .contains("\"name\":\"" + group + "\"")
                .contains("\"members\":0,\"partitions\":1,\"lag\":3,");
        String positions = get("/v1/groups/" + group + "/offsets");
        assertThat(positions)
                .contains("\"topic\":\"" + topic + "\",\"partition\":0,\"committed\":2,\"end\":5,\"lag\":3,")
                .contains("by a test");
        Matcher lagMs = Pattern.compile("\"lagMs\":(\\d+)").matcher(positions);
        assertThat(lagMs.find()).isTrue();
        assertThat(Long.parseLong(lagMs.group(1))).isBetween(60_000L, 120_000L);
        assertThat(gateway.get("/v1/groups/absent").statusCode()).isEqualTo(404);
    }

    @Test
    void shouldShowMembersAndRefuseAResetWhenAGroupHasMembers() throws Exception {
        String topic = topic(2);
        append(topic, 1);
        for (String protocol : List.of("classic", "consumer")) {
            String group = name();
            Map<String, Object> settings = new HashMap<>();
            settings.put("group.id", group);
            settings.put("group.protocol", protocol);
            settings.put("client.id", "a-" + protocol + "-client");
            try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(settings)) {
                consumer.subscribe(List.of(topic));
                while (consumer.assignment().isEmpty()) {
                    consumer.poll(Duration.ofMillis(50));
                }
                consumer.commitSync(Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(0)));

                assertThat(get("/v1/groups/" + group))
                        .contains("\"type\":\"" + protocol + "\"")
                        .contains("\"clientId\":\"a-" + protocol + "-client\"")
                        .contains("\"assigned\":{\"" + topic + "\":[0,1]}");
                HttpResponse<String> reset =
                        gateway.post("/v1/groups/" + group + "/offsets", JSON, "{\"to\":\"end\",\"execute\":true}");
                assertThat(reset.statusCode()).isEqualTo(409);
                assertThat(reset.body()).contains("has 1 members");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "start, 0",
        "end, 10",
        "'offset\",\"offset\":7,\"x\":\"', 7",
        "'offset\",\"offset\":99,\"x\":\"', 10",
        "'shift\",\"shift\":-3,\"x\":\"', 2",
        "'timestamp\",\"timestamp\":1004,\"x\":\"', 4"
    })
    void shouldMoveOffsetsOnlyWhenExecutionIsAskedFor(String to, long offset) throws Exception {
        String topic = topic(1);
        String group = name();
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = 0; i < 10; i++) {
                producer.send(new ProducerRecord<>(topic, 0, 1_000L + i, null, new byte[] {1}))
                        .get();
            }
        }
        commit(group, topic, 5);
        String path = "/v1/groups/" + group + "/offsets";
        String wish = "{\"topic\":\"" + topic + "\",\"to\":\"" + to.replace(",\"x\":\"", "");
        String body = to.contains(":") ? wish : wish + "\"";

        String moved = "\"partition\":0,\"committed\":5,\"offset\":" + offset + "}";
        assertThat(post(path, body + "}")).contains("\"executed\":false").contains(moved);
        assertThat(committed(group, topic)).isEqualTo(5);
        assertThat(post(path, body + ",\"execute\":true}"))
                .contains("\"executed\":true")
                .contains(moved);
        assertThat(committed(group, topic)).isEqualTo(offset);

        assertThat(send("DELETE", "/v1/groups/" + group, "").statusCode()).isEqualTo(200);
        assertThat(gateway.get("/v1/groups/" + group).statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @CsvSource({
        "9223372036854775807, 5, 10",
        "-9223372036854775808, 5, 0",
        "9223372036854775807, 9223372036854775807, 10",
        "100, 9223372036854775807, 10",
        "-9223372036854775808, 9223372036854775807, 0"
    })
    void shouldStayWithinThePartitionWhenOffsetsAreShiftedVeryFar(long shift, long from, long offset) throws Exception {
        String topic = topic(1);
        String group = name();
        append(topic, 10);
        commit(group, topic, from);

        String moved = post(
                "/v1/groups/" + group + "/offsets",
                "{\"topic\":\"" + topic + "\",\"to\":\"shift\",\"shift\":" + shift + "}");

        assertThat(moved).contains("\"offset\":" + offset + "}");
    }

    @Test
    void shouldSetAConfigurationWhenItIsTheLargestWholeNumber() throws Exception {
        HttpResponse<String> set = send(
                "PATCH", "/v1/topics/" + topic(1) + "/configs", "{\"set\":{\"retention.ms\":9223372036854775807}}");

        assertThat(set.statusCode()).as(set.body()).isEqualTo(200);
        assertThat(set.body()).contains("\"to\":\"9223372036854775807\"");
    }

    @Test
    void shouldListEachQuotaOnceWhenAUserIsNamedLikeTheDefault() throws Exception {
        for (String user : List.of("null", "\"null\"")) {
            String quota =
                    "{\"entity\":{\"user\":" + user + "},\"set\":{\"producer_byte_rate\":5000},\"execute\":true}";
            assertThat(send("PATCH", "/v1/quotas", quota).statusCode()).isEqualTo(200);
        }
        try {
            List<String> users = new ArrayList<>();
            String page = get("/v1/quotas?query=user=&limit=1");
            Matcher cursor = Pattern.compile("\"cursor\":\"([^\"]+)\"").matcher(page);
            while (cursor.find()) {
                users.add(page);
                page = get("/v1/quotas?query=user=&limit=1&cursor=" + cursor.group(1));
                cursor.reset(page);
            }
            users.add(page);
            assertThat(users)
                    .filteredOn(shown -> shown.contains("{\"user\":null}"))
                    .hasSize(1);
            assertThat(users)
                    .filteredOn(shown -> shown.contains("{\"user\":\"null\"}"))
                    .hasSize(1);
        } finally {
            for (String user : List.of("null", "\"null\"")) {
                send(
                        "PATCH",
                        "/v1/quotas",
                        "{\"entity\":{\"user\":" + user + "},\"reset\":[\"producer_byte_rate\"],\"execute\":true}");
            }
        }
    }

    @Test
    void shouldRefuseToResetAQuotaThatDoesNotExist() throws Exception {
        HttpResponse<String> reset = send(
                "PATCH",
                "/v1/quotas",
                "{\"entity\":{\"user\":\"" + name() + "\"},\"reset\":[\"producer_byte_rates\"],\"execute\":true}");

        assertThat(reset.statusCode()).as(reset.body()).isEqualTo(422);
        assertThat(reset.body()).contains("producer_byte_rates");
    }

    @Test
    void shouldContinueBehindAGroupWhoseNameContainsTheSeparatorOfCursors() throws Exception {
        String topic = topic(1);
        String prefix = name();
        for (String end : List.of("a", "a\0b", "b")) {
            commit(prefix + end, topic, 0);
        }

        List<String> shown = new ArrayList<>();
        String page = get("/v1/groups?query=" + prefix + "&limit=1");
        for (int i = 0; i < 3; i++) {
            shown.add(page);
            Matcher cursor = Pattern.compile("\"cursor\":\"([^\"]+)\"").matcher(page);
            if (cursor.find()) {
                page = get("/v1/groups?query=" + prefix + "&limit=1&cursor=" + cursor.group(1));
            }
        }

        assertThat(shown.get(2)).contains("\"name\":\"" + prefix + "b\"").doesNotContain("\"cursor\"");
    }

    @Test
    void shouldSetAndRemoveAQuotaWhenExecutionIsAskedFor() throws Exception {
        String user = name();
        String entity = "{\"entity\":{\"user\":\"" + user + "\"},";
        send("PATCH", "/v1/quotas", entity + "\"set\":{\"producer_byte_rate\":5000}}");
        assertThat(get("/v1/quotas?query=" + user)).contains("\"items\":[]");
        send("PATCH", "/v1/quotas", entity + "\"set\":{\"producer_byte_rate\":5000},\"execute\":true}");
        assertThat(get("/v1/quotas?query=" + user))
                .contains("{\"entity\":{\"user\":\"" + user + "\"},\"limits\":{\"producer_byte_rate\":5000");
        send("PATCH", "/v1/quotas", entity + "\"reset\":[\"producer_byte_rate\"],\"execute\":true}");
        assertThat(get("/v1/quotas?query=" + user)).contains("\"items\":[]");
        assertThat(send("PATCH", "/v1/quotas", entity + "\"set\":{\"no_such_rate\":1}}")
                        .statusCode())
                .isEqualTo(422);
    }

    @Test
    void shouldAbortATransactionWhenExecutionIsAskedFor() throws Exception {
        String topic = topic(1);
        String id = name();
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("transactional.id", id))) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(topic, new byte[] {1})).get();

            assertThat(get("/v1/transactions?query=" + id)).contains("\"state\":\"Ongoing\"");
            assertThat(get("/v1/transactions/" + id))
                    .contains("\"topics\":[{\"topic\":\"" + topic + "\",\"partitions\":[0]}]");
            post("/v1/transactions/" + id + "/abort", "{}");
            assertThat(get("/v1/transactions/" + id))
                    .contains("\"state\":\"Ongoing\"")
                    .doesNotContain("\"started\":-1");
            HttpResponse<String> aborted =
                    gateway.post("/v1/transactions/" + id + "/abort", JSON, "{\"execute\":true}");
            assertThat(aborted.statusCode()).as(aborted.body()).isIn(200, 409);
            broker.await(() -> {
                try {
                    return get("/v1/transactions/" + id).contains("\"started\":-1");
                } catch (Exception failure) {
                    throw new AssertionError(failure);
                }
            });
        }
        assertThat(get("/v1/transactions/" + id)).doesNotContain("Ongoing");
        assertThat(get("/v1/transactions?query=" + id)).contains("\"started\":-1");
        assertThat(gateway.get("/v1/transactions/absent").statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @CsvSource({
        "text=Needle, 0 2 4 6",
        "text=needle&in=key, 0",
        "text=needle&in=value, 2 6",
        "text=needle&in=headers, 4",
        "text=needle&in=path&path=$.a.b[1], 6",
        "text=needle&in=path&path=$.a.c, ''",
        "text=needle&limit=2, 0 2",
        "text=absent, ''"
    })
    void shouldFindRecordsToTheEndWhenTheyContainTheText(String parameters, String offsets) throws Exception {
        String topic = topic(1);
        String noise = "{\"value\":\"hay\"}\n";
        gateway.post(
                "/v1/topics/" + topic + "/records",
                NDJSON,
                "{\"key\":\"a needle\",\"value\":null}\n" + noise + "{\"value\":\"a NEEDLE\"}\n" + noise
                        + "{\"value\":\"x\",\"headers\":[{\"name\":\"h\",\"value\":\"needle\"}]}\n" + noise
                        + "{\"value\":{\"a\":{\"b\":[1,\"the needle\"]}}}\n" + noise);

        String found = get("/v1/topics/" + topic + "/search?"
                + parameters.replace("$", "%24").replace("[", "%5B").replace("]", "%5D"));

        List<String> expected = new ArrayList<>();
        for (String offset : offsets.split(" ", -1)) {
            if (!offset.isEmpty()) {
                expected.add(offset);
            }
        }
        List<String> matched = new ArrayList<>();
        Matcher record = Pattern.compile("\"partition\":0,\"offset\":(\\d+)").matcher(found);
        while (record.find()) {
            matched.add(record.group(1));
        }
        assertThat(matched).isEqualTo(expected);
        assertThat(found).contains("\"progress\":{\"scanned\":").contains("\"atEnd\":" + !parameters.contains("limit"));
    }

    @Test
    void shouldContinueAtTheCursorWhenASearchHasReachedItsLimit() throws Exception {
        String topic = topic(3);
        append(topic, 3_000);
        int found = 0;
        String cursor = "";
        while (cursor != null) {
            String page = get("/v1/topics/" + topic + "/search?text=x&limit=700" + cursor);
            found += page.split("\"offset\":", -1).length - 1;
            Matcher last = Pattern.compile("\\{\"cursor\":\"([^\"]+)\",\"atEnd\":false}")
                    .matcher(page);
            cursor = last.find() ? "&cursor=" + last.group(1) : null;
        }

        assertThat(found).isEqualTo(3_000);
        assertThat(gateway.get("/v1/topics/" + topic + "/search").statusCode()).isEqualTo(400);
        assertThat(gateway.get("/v1/topics/" + topic + "/search?text=x&in=path").statusCode())
                .isEqualTo(400);
    }

    @Test
    void shouldNotSayThatEverythingWasSearchedWhenTheBrokerStopsBefore(@TempDir Path other) throws Exception {
        // given a client that reads nothing yet, so that the search has not come far
        int thousands = 9;
        TestBroker stopping =
                new TestBroker(other).with("gateway.listener", "127.0.0.1:0").start();
        stopping.createTopic("t", 1, Map.of());
        GatewayClient client = new GatewayClient(stopping.gatewayPort());
        String line = "{\"value\":\"" + "x".repeat(2_000) + "\"}\n";
        for (int i = 0; i < thousands; i++) {
            client.post("/v1/topics/t/records", NDJSON, line.repeat(1_000));
        }
        try (Socket socket = client.connect(SMALL_BUFFER_BYTES)) {
            socket.getOutputStream()
                    .write("GET /v1/topics/t/search?text=x&limit=10000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
                            .getBytes(ISO_8859_1));
            GatewayClient.readHead(socket);

            // when
            Thread stop = new Thread(stopping::close);
            stop.start();
            stopping.await(() -> !accepts(client));

            // then
            String response = GatewayClient.readAll(socket);
            stop.join();
            assertThat(response.split("\"value\":", -1).length).isLessThan(1_000 * thousands);
            assertThat(response.substring(response.lastIndexOf('{')))
                    .startsWith("{\"cursor\":\"0:")
                    .contains("\"atEnd\":false}");
        }
    }

    private static boolean accepts(GatewayClient client) {
        try {
            client.connect().close();
            return true;
        } catch (IOException refused) {
            return false;
        }
    }

    @Test
    void shouldReturnAValuePerSecondWhenTheHistoryIsAsked() throws Exception {
        String topic = topic(1);
        append(topic, 500);
        broker.await(() -> {
            try {
                return Pattern.compile("\"appendedRecordsPerSecond\":\\[[^]]*[1-9]")
                        .matcher(get("/v1/history"))
                        .find();
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        });

        assertThat(get("/v1/history")).contains("\"stepMs\":1000").contains("\"heapUsedBytes\":[");
        assertThat(get("/v1/history?step=1m")).contains("\"stepMs\":60000");
        assertThat(gateway.get("/v1/history?step=1h").statusCode()).isEqualTo(400);
    }

    @Test
    void shouldSayHowToGetTheConsoleWhenItIsNotOnTheClassPath() throws Exception {
        HttpResponse<String> response = gateway.get("/");

        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(response.body()).contains("add journalq-console");
    }

    @Test
    void shouldNotSayThatAGroupDoesNotExistWhenItsCoordinatorLoads() throws Exception {
        List<Handler<?>> before = new ArrayList<>();
        broker.handlers().replace(ApiKey.CONSUMER_GROUP_DESCRIBE, handler -> {
            before.add(handler);
            return new LoadingGroups(handler.api());
        });
        try {
            assertThat(gateway.get("/v1/groups/g").statusCode()).isEqualTo(503);
            assertThat(gateway.get("/v1/groups/g/offsets").statusCode()).isEqualTo(503);
        } finally {
            broker.handlers().replace(ApiKey.CONSUMER_GROUP_DESCRIBE, handler -> before.get(0));
        }
    }

    @Test
    void shouldNotLeaveOffsetsOutWhenTheCoordinatorOfTheirGroupLoads() throws Exception {
        String topic = topic(1);
        append(topic, 3);
        String group = name();
        commit(group, topic, 2);
        List<Handler<?>> before = new ArrayList<>();
        broker.handlers().replace(ApiKey.CONSUMER_GROUP_DESCRIBE, handler -> {
            before.add(handler);
            return new LoadingGroups(handler.api());
        });
        broker.handlers().replace(ApiKey.OFFSET_FETCH, handler -> {
            before.add(handler);
            return new LoadingOffsets(handler.api());
        });
        try {
            HttpResponse<String> reset = gateway.post(
                    "/v1/groups/" + group + "/offsets",
                    JSON,
                    "{\"topic\":\"" + topic + "\",\"to\":\"shift\",\"shift\":-1,\"execute\":true}");
            assertThat(reset.statusCode()).as(reset.body()).isEqualTo(503);
        } finally {
            broker.handlers().replace(ApiKey.CONSUMER_GROUP_DESCRIBE, handler -> before.get(0));
            broker.handlers().replace(ApiKey.OFFSET_FETCH, handler -> before.get(1));
        }
    }

    /** The coordinator moves when the group has been described. */
    @Test
    void shouldNotShowAGroupWithoutOffsetsWhenTheirCoordinatorLoads() throws Exception {
        String topic = topic(1);
        append(topic, 3);
        String group = name();
        commit(group, topic, 2);
        String offsets = "/v1/groups/" + group + "/offsets";
        List<Handler<?>> before = new ArrayList<>();
        broker.handlers().replace(ApiKey.OFFSET_FETCH, handler -> {
            before.add(handler);
            return new LoadingOffsets(handler.api());
        });
        try {
            HttpResponse<String> shown = gateway.get(offsets);
            assertThat(shown.statusCode()).as(shown.body()).isEqualTo(503);
            HttpResponse<String> reset = gateway.post(
                    offsets, JSON, "{\"topic\":\"" + topic + "\",\"to\":\"shift\",\"shift\":-1,\"execute\":true}");
            assertThat(reset.statusCode()).as(reset.body()).isEqualTo(503);
            // and its description says that the lag is not known
            assertThat(gateway.get("/v1/groups/" + group).body()).contains("\"lag\":-1");
        } finally {
            broker.handlers().replace(ApiKey.OFFSET_FETCH, handler -> before.get(0));
        }
    }

    @Test
    void shouldRefuseToShiftOffsetsWhenThereAreNoneToShift() throws Exception {
        String topic = topic(2);
        append(topic, 3);
        String offsets = "/v1/groups/" + name() + "/offsets";

        HttpResponse<String> shift = gateway.post(
                offsets, JSON, "{\"topic\":\"" + topic + "\",\"to\":\"shift\",\"shift\":-1,\"execute\":true}");
        assertThat(shift.statusCode()).as(shift.body()).isEqualTo(409);
        assertThat(shift.body()).contains("no committed offsets").contains("start, end or offset");
    }

    private record LoadingOffsets(ServedApi api) implements Handler<OffsetFetchRequest> {
        @Override
        public void handle(RequestContext context, OffsetFetchRequest request) {
            context.respond(new OffsetFetchResponse()
                    .setGroups(request.groups().stream()
                            .map(group -> new OffsetFetchResponse.OffsetFetchResponseGroup()
                                    .setGroupId(group.groupId())
                                    .setErrorCode(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.code()))
                            .toList()));
        }
    }

    private record LoadingGroups(ServedApi api) implements Handler<ConsumerGroupDescribeRequest> {
        @Override
        public void handle(RequestContext context, ConsumerGroupDescribeRequest request) {
            context.respond(new ConsumerGroupDescribeResponse()
                    .setGroups(request.groupIds().stream()
                            .map(group -> new ConsumerGroupDescribeResponse.DescribedGroup()
                                    .setGroupId(group)
                                    .setErrorCode(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.code()))
                            .toList()));
        }
    }

    @Test
    void shouldDescribeTheClusterAndItsBrokerWhenAsked() throws Exception {
        append(topic(1), 1);

        assertThat(get("/v1/cluster"))
                .contains("\"controller\":0")
                .contains("\"id\":0,")
                .contains("\"live\":true");
        assertThat(get("/v1/broker"))
                .contains("\"status\":\"up\"")
                .contains("\"loop\":1,")
                .contains("\"syncs\":{\"count\":")
                .doesNotContain("\"syncs\":{\"count\":0")
                .contains("\"directory\":\"" + directory.toAbsolutePath());
        assertThat(get("/v1/session"))
                .contains("\"principal\":\"User:ANONYMOUS\"")
                .contains("\"authorization\":false");
        assertThat(gateway.get("/v1/acls").statusCode()).isEqualTo(409);
        assertThat(get("/v1/users")).contains("\"items\":[]");
    }
}
