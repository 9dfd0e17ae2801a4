package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Consumers in the conventions of Confluent's REST proxy, beside Kafka's own consumer. */
@Timeout(180)
class GatewayConsumersTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String TYPE = "application/vnd.kafka.v2+json";
    private static final String JSON = "application/vnd.kafka.json.v2+json";
    private static final String BINARY = "application/vnd.kafka.binary.v2+json";

    @TempDir
    private static Path directory;

    private static TestBroker broker;
    private static GatewayClient gateway;
    private static int topics;

    private final String topic = "t" + ++topics;
    private final String group = "g" + topics;

    @BeforeAll
    static void start() throws Exception {
        broker = started(directory);
        gateway = new GatewayClient(broker.gatewayPort());
    }

    private static TestBroker started(Path data, String... more) throws Exception {
        TestBroker fresh = new TestBroker(data)
                .with("gateway.listener", "127.0.0.1:0")
                .with("group.consumer.heartbeat.interval.ms", "100")
                .with("group.consumer.min.heartbeat.interval.ms", "100")
                .with("offsets.topic.num.partitions", "1")
                .with("auto.create.topics.enable", "false")
                .with("shards", "2");
        for (int i = 0; i < more.length; i += 2) {
            fresh.with(more[i], more[i + 1]);
        }
        return fresh.start();
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static void append(TestBroker to, String topic, int partition, String... values) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = to.producer(Map.of())) {
            for (String value : values) {
                producer.send(new ProducerRecord<>(topic, partition, null, value.getBytes(UTF_8)))
                        .get(20, TimeUnit.SECONDS);
            }
        }
    }

    private void append(int partition, String... values) throws Exception {
        append(broker, topic, partition, values);
    }

    /** One instance, as its client sees it. */
    private static final class Consumer {
        private final GatewayClient gateway;
        private final String path;
        private final String type;

        Consumer(GatewayClient gateway, String group, String name, String format, String settings) throws Exception {
            this.gateway = gateway;
            this.type = format.equals("json") ? JSON : BINARY;
            HttpResponse<String> created = gateway.post(
                    "/consumers/" + group,
                    TYPE,
                    "{\"name\":\"" + name + "\",\"format\":\"" + format + "\"" + settings + "}");
            assertThat(created.statusCode()).as(created.body()).isEqualTo(200);
            assertThat(MAPPER.readTree(created.body()).get("instance_id").asText())
                    .isEqualTo(name);
            this.path = "/consumers/" + group + "/instances/" + name;
            assertThat(MAPPER.readTree(created.body()).get("base_uri").asText())
                    .matches("http://127\\.0\\.0\\.1:\\d+" + path);
        }

        HttpResponse<String> post(String resource, String body) throws Exception {
            return gateway.post(path + resource, TYPE, body);
        }

        Consumer change(String resource, String body) throws Exception {
            HttpResponse<String> response = post(resource, body);
            assertThat(response.statusCode()).as(response.body()).isEqualTo(204);
            return this;
        }

        Consumer subscribe(String topic) throws Exception {
            return change("/subscription", "{\"topics\":[\"" + topic + "\"]}");
        }

        Consumer assign(String topic, int partition) throws Exception {
            return change("/assignments", partitions(topic, partition));
        }

        HttpResponse<String> get(String resource) throws Exception {
            return gateway.get(path + resource);
        }

        HttpResponse<String> delete(String resource) throws Exception {
            return gateway.send(gateway.request(path + resource)
                    .header("Content-Type", TYPE)
                    .method("DELETE", BodyPublishers.noBody()));
        }

        HttpResponse<String> records(String parameters) throws Exception {
            return gateway.send(gateway.request(path + "/records" + parameters).header("Accept", type));
        }

        /** Reads until there are this many records. */
        List<JsonNode> read(int count) throws Exception {
            List<JsonNode> records = new ArrayList<>();
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (records.size() < count && System.nanoTime() < deadlineNanos) {
                HttpResponse<String> response = records("?timeout=200");
                assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
                assertThat(response.headers().firstValue("Content-Type")).hasValue(type);
                MAPPER.readTree(response.body()).forEach(records::add);
            }
            assertThat(records).hasSize(count);
            return records;
        }

        List<String> values(int count) throws Exception {
            return read(count).stream()
                    .map(record -> record.get("value").toString())
                    .toList();
        }

        /** The number of its partitions. */
        int assigned() throws Exception {
            return MAPPER.readTree(get("/assignments").body()).get("partitions").size();
        }
    }

    private static String partitions(String topic, int partition) {
        return "{\"partitions\":[{\"topic\":\"" + topic + "\",\"partition\":" + partition + "}]}";
    }

    private static String offsets(String topic, int partition, long offset) {
        return "{\"offsets\":[{\"topic\":\"" + topic + "\",\"partition\":" + partition + ",\"offset\":" + offset
                + ",\"metadata\":\"m\"}]}";
    }

    private Consumer consumer(String name, String settings) throws Exception {
        return new Consumer(gateway, group, name, "json", settings);
    }

    private Consumer fromStart(String name) throws Exception {
        return consumer(name, ",\"auto.offset.reset\":\"earliest\",\"auto.commit.enable\":\"false\"");
    }

    private Map<Integer, Long> committed(TestBroker of) throws Exception {
        try (Admin admin = of.admin()) {
            Map<Integer, Long> offsets = new TreeMap<>();
            for (Map.Entry<TopicPartition, OffsetAndMetadata> each : admin.listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get(20, TimeUnit.SECONDS)
                    .entrySet()) {
                offsets.put(each.getKey().partition(), each.getValue().offset());
            }
            return offsets;
        }
    }

    private static void assertError(HttpResponse<String> response, int status, int code) throws Exception {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(MAPPER.readTree(response.body()).get("error_code").asInt())
                .as(response.body())
                .isEqualTo(code);
        assertThat(response.headers().firstValue("Content-Type")).hasValue(TYPE);
    }

    @Test
    void shouldReadJsonAndContinueBehindWhatWasCommitted() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        gateway.post(
                "/topics/" + topic,
                JSON,
                "{\"records\":[{\"key\":{\"k\":1},\"value\":[1, 2]},{\"value\":\"é\"},{\"key\":0,\"value\":null}]}");
        Consumer first = fromStart("first").subscribe(topic);

        List<JsonNode> records = first.read(3);
        first.change("/offsets", "");
        append(0, "4");
        assertThat(first.values(1)).containsExactly("4");
        assertThat(first.delete("").statusCode()).isEqualTo(204);

        assertThat(records.get(0).toString())
                .isEqualTo(
                        "{\"topic\":\"" + topic + "\",\"key\":{\"k\":1},\"value\":[1,2],\"partition\":0,\"offset\":0}");
        assertThat(records.get(1).get("value").asText()).isEqualTo("é");
        assertThat(records.get(2).get("value").isNull()).isTrue();
        assertThat(committed(broker)).containsExactly(Map.entry(0, 3L));
        assertThat(consumer("second", "").subscribe(topic).values(1)).containsExactly("4");
        assertError(first.get("/subscription"), 404, 40_403);
    }

    @Test
    void shouldReadBytesInBase64() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        gateway.post(
                "/topics/" + topic, BINARY, "{\"records\":[{\"key\":\"/wE=\",\"value\":\"AAEC\"},{\"value\":null}]}");
        Consumer consumer = new Consumer(gateway, group, "b", "binary", ",\"auto.offset.reset\":\"earliest\"");

        List<JsonNode> records = consumer.subscribe(topic).read(2);

        assertThat(records.get(0).get("key").asText()).isEqualTo("/wE=");
        assertThat(records.get(0).get("value").asText()).isEqualTo("AAEC");
        assertThat(records.get(1).get("value").isNull()).isTrue();
    }

    @Test
    void shouldShareThePartitionsWithAnotherInstanceAndWithKafkasConsumer() throws Exception {
        broker.createTopic(topic, 6, Map.of());
        Consumer first = fromStart("first").subscribe(topic);
        broker.await(() -> count(first) == 6);

        // when an instance and a consumer join
        Consumer second = fromStart("second").subscribe(topic);
        try (KafkaConsumer<byte[], byte[]> third = broker.consumer(
                Map.of("group.id", group, "group.protocol", "consumer", "auto.offset.reset", "earliest"))) {
            third.subscribe(List.of(topic));
            broker.await(() -> {
                third.poll(Duration.ofMillis(20));
                return third.assignment().size() == 2 && count(first) == 2 && count(second) == 2;
            });
            for (int partition = 0; partition < 6; partition++) {
                append(partition, String.valueOf(partition));
            }
            List<String> values = new ArrayList<>(first.values(2));
            values.addAll(second.values(2));
            broker.await(() -> {
                third.poll(Duration.ofMillis(20)).forEach(record -> values.add(new String(record.value(), UTF_8)));
                return values.size() == 6;
            });

            // then each record has gone to one of them
            assertThat(values).containsExactlyInAnyOrder("0", "1", "2", "3", "4", "5");
        }

        // and the others get the partitions of those that leave
        assertThat(second.delete("/subscription").statusCode()).isEqualTo(204);
        assertThat(second.get("/subscription").body()).contains("\"topics\":[]");
        broker.await(() -> count(first) == 6 && count(second) == 0);
    }

    /** The coordinator of the group takes its time, and meanwhile gives more partitions to the member that leaves. */
    @Test
    void shouldHaveNoPartitionsWhenItHasUnsubscribed(@TempDir Path data) throws Exception {
        try (TestBroker other = started(data);
                Admin admin = other.admin()) {
            // given
            other.createTopic(topic, 1, Map.of());
            append(other, topic, 0, "0");
            GatewayClient client = new GatewayClient(other.gatewayPort());
            Consumer consumer = new Consumer(client, group, "c", "json", ",\"auto.offset.reset\":\"earliest\"");
            assertThat(consumer.subscribe(topic).values(1)).containsExactly("0");
            AtomicBoolean loads = new AtomicBoolean(true);
            other.handlers().replace(ApiKey.OFFSET_COMMIT, before -> new LoadingCommits(before, loads));

            // when
            CompletableFuture<Integer> status = CompletableFuture.supplyAsync(() -> {
                try {
                    return consumer.delete("/subscription").statusCode();
                } catch (Exception failure) {
                    throw new AssertionError(failure);
                }
            });
            admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(3)))
                    .all()
                    .get(20, TimeUnit.SECONDS);
            other.await(() -> assignedBy(admin) == 3);
            Thread.sleep(500); // the member asks for the offsets of the new ones
            assertThat(status).isNotDone();
            loads.set(false);

            // then
            assertThat(status.get(20, TimeUnit.SECONDS)).isEqualTo(204);
            assertThat(consumer.assigned()).isZero();
            assertThat(committed(other)).containsExactly(Map.entry(0, 1L));
        }
    }

    /** The coordinator takes its time with a commit, and meanwhile gives the member more than there is memory for. */
    @Test
    void shouldRespondToACommitWhenTheInstanceHasToLeaveItsGroup(@TempDir Path data) throws Exception {
        try (TestBroker other = started(data, "memory.connections.max.bytes", "70000");
                Admin admin = other.admin()) {
            // given
            other.createTopic(topic, 1, Map.of());
            append(other, topic, 0, "0");
            GatewayClient client = new GatewayClient(other.gatewayPort());
            Consumer consumer = new Consumer(
                    client, group, "c", "json", ",\"auto.offset.reset\":\"earliest\",\"auto.commit.enable\":\"false\"");
            assertThat(consumer.subscribe(topic).values(1)).containsExactly("0");
            Queue<Runnable> held = new ConcurrentLinkedQueue<>();
            other.handlers().replace(ApiKey.OFFSET_COMMIT, before -> new Held<>(before, held));

            // when
            CompletableFuture<HttpResponse<String>> commit = CompletableFuture.supplyAsync(() -> {
                try {
                    return consumer.post("/offsets", "");
                } catch (Exception failure) {
                    throw new AssertionError(failure);
                }
            });
            other.await(() -> !held.isEmpty());
            admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(100)))
                    .all()
                    .get(20, TimeUnit.SECONDS);

            // then
            HttpResponse<String> refused = commit.get(40, TimeUnit.SECONDS);
            assertError(refused, 503, 50_003);
            assertThat(refused.body()).contains("memory.connections.max.bytes");
            assertError(consumer.records("?timeout=0"), 503, 50_003);
            held.remove().run(); // the late response to the commit changes nothing
        }
    }

    /** The leader of the partition takes its time to say where the log ends. */
    @Test
    void shouldReadFromThePositionThatTheClientChoosesWhenTheEndIsFoundLater(@TempDir Path data) throws Exception {
        try (TestBroker other = started(data)) {
            other.createTopic(topic, 1, Map.of());
            append(other, topic, 0, "0", "1", "2");
            Consumer consumer = new Consumer(new GatewayClient(other.gatewayPort()), group, "c", "json", "");
            Queue<Runnable> held = new ConcurrentLinkedQueue<>();
            other.handlers().replace(ApiKey.LIST_OFFSETS, before -> new Held<>(before, held));

            consumer.assign(topic, 0).change("/positions", offsets(topic, 0, 1));
            assertThat(held).hasSize(1);
            held.remove().run();

            assertThat(consumer.values(2)).containsExactly("1", "2");
        }
    }

    @Test
    void shouldReadOnWhenAFetchHadNoResponse(@TempDir Path data) throws Exception {
        try (TestBroker other = started(data)) {
            other.createTopic(topic, 1, Map.of());
            append(other, topic, 0, "0");
            Consumer consumer = new Consumer(
                    new GatewayClient(other.gatewayPort()), group, "c", "json", ",\"auto.offset.reset\":\"earliest\"");
            consumer.assign(topic, 0);
            List<Handler<?>> before = new ArrayList<>();
            other.handlers().replace(ApiKey.FETCH, handler -> {
                before.add(handler);
                return new FailingFetches(handler.api());
            });

            HttpResponse<String> failed = consumer.records("?timeout=5000");
            other.handlers().replace(ApiKey.FETCH, handler -> before.get(0));

            assertThat(failed.statusCode()).as(failed.body()).isEqualTo(500);
            assertThat(consumer.values(1)).containsExactly("0");
        }
    }

    private record FailingFetches(ServedApi api) implements Handler<FetchRequest> {
        @Override
        public void handle(RequestContext context, FetchRequest request) {
            context.refuse("the broker failed to respond");
        }
    }

    /** Keeps requests until the test lets them go on. */
    private record Held<Q extends ApiMessage>(Handler<Q> handler, Queue<Runnable> held) implements Handler<Q> {
        @Override
        public ServedApi api() {
            return handler.api();
        }

        @Override
        public void handle(RequestContext context, Q request) {
            held.add(() -> context.cycle().execute(() -> handler.handle(context, request)));
        }
    }

    /** The number of partitions that the members of the group have. */
    private int assignedBy(Admin admin) {
        try {
            return admin
                    .describeConsumerGroups(List.of(group))
                    .all()
                    .get(20, TimeUnit.SECONDS)
                    .get(group)
                    .members()
                    .stream()
                    .mapToInt(member -> member.assignment().topicPartitions().size())
                    .sum();
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    /** Refuses commits while the coordinator loads. */
    private record LoadingCommits(Handler<?> whenLoaded, AtomicBoolean loads) implements Handler<OffsetCommitRequest> {
        @Override
        public ServedApi api() {
            return whenLoaded.api();
        }

        @Override
        @SuppressWarnings("unchecked") // it is the handler of the same API
        public void handle(RequestContext context, OffsetCommitRequest request) {
            if (!loads.get()) {
                ((Handler<OffsetCommitRequest>) whenLoaded).handle(context, request);
                return;
            }
            context.respond(new OffsetCommitResponse()
                    .setTopics(request.topics().stream()
                            .map(each -> new OffsetCommitResponse.OffsetCommitResponseTopic()
                                    .setName(each.name())
                                    .setPartitions(each.partitions().stream()
                                            .map(partition -> new OffsetCommitResponse.OffsetCommitResponsePartition()
                                                    .setPartitionIndex(partition.partitionIndex())
                                                    .setErrorCode(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.code()))
                                            .toList()))
                            .toList()));
        }
    }

    private static int count(Consumer consumer) {
        try {
            return consumer.assigned();
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void shouldContinueExactlyWhereItHasCommittedAfterARestart(@TempDir Path data) throws Exception {
        String commit = ",\"auto.offset.reset\":\"earliest\",\"auto.commit.enable\":false";
        try (TestBroker other = started(data)) {
            other.createTopic(topic, 2, Map.of());
            append(other, topic, 0, "0", "1", "2", "3");
            append(other, topic, 1, "10", "11");
            Consumer consumer = new Consumer(new GatewayClient(other.gatewayPort()), group, "c", "json", commit);
            assertThat(consumer.subscribe(topic).values(6)).contains("3", "11");

            // the offset of a record commits the one behind it, as in Confluent's proxy
            consumer.change("/offsets", offsets(topic, 0, 1));
            HttpResponse<String> shown = getWithBody(
                    new GatewayClient(other.gatewayPort()), consumer.path + "/offsets", partitions(topic, 0));
            assertThat(shown.body())
                    .isEqualTo("{\"offsets\":[{\"topic\":\"" + topic
                            + "\",\"partition\":0,\"offset\":2,\"metadata\":\"m\"}]}\n");
            other.stop();

            other.start();
            assertThat(committed(other)).containsExactly(Map.entry(0, 2L));
            GatewayClient again = new GatewayClient(other.gatewayPort());
            assertError(again.get(consumer.path + "/records"), 404, 40_403);
            assertThat(new Consumer(again, group, "c", "json", commit)
                            .subscribe(topic)
                            .values(4))
                    .containsExactlyInAnyOrder("2", "3", "10", "11");
        }
    }

    private static HttpResponse<String> getWithBody(GatewayClient client, String path, String body) throws Exception {
        return client.send(
                client.request(path).header("Content-Type", TYPE).method("GET", BodyPublishers.ofString(body)));
    }

    @Test
    void shouldCommitByItselfWhatTheClientHasProcessed() throws Exception {
        broker.createTopic(topic, 2, Map.of());
        append(0, "0");
        append(1, "1");
        String earliest = ",\"auto.offset.reset\":\"earliest\"";
        Consumer first = consumer("first", earliest).subscribe(topic);
        first.values(2);
        append(0, "2");
        append(1, "3");
        first.values(2); // so that the first two are processed

        // when another instance takes a partition over, then it continues behind what was processed
        Consumer second = consumer("second", earliest).subscribe(topic);
        broker.await(() -> count(second) == 1 && count(first) == 1);
        List<String> again = second.values(1);
        assertThat(again).containsAnyOf("2", "3");
        int moved = again.contains("2") ? 0 : 1;
        assertThat(committed(broker)).containsEntry(moved, 1L);

        // and when they are deleted, then all that they have received is committed
        assertThat(first.delete("").statusCode()).isEqualTo(204);
        assertThat(second.delete("").statusCode()).isEqualTo(204);
        assertThat(committed(broker)).containsExactly(Map.entry(0, 2L), Map.entry(1, 2L));
    }

    @Test
    void shouldLeaveItsGroupWhenItIsNotUsed(@TempDir Path data) throws Exception {
        try (TestBroker other = started(data, "gateway.consumer.instance.timeout.ms", "1000")) {
            other.createTopic(topic, 1, Map.of());
            append(other, topic, 0, "0");
            GatewayClient client = new GatewayClient(other.gatewayPort());
            String earliest = ",\"auto.offset.reset\":\"earliest\"";

            // a read that takes longer keeps it
            Consumer waits = new Consumer(client, group + "-other", "waits", "json", "");
            assertThat(waits.records("?timeout=2500").body()).isEqualTo("[]\n");
            try (Admin admin = other.admin()) {
                // on a slow machine, it may have expired before
                for (int i = 0; ; i++) {
                    Consumer consumer = new Consumer(client, group, "c" + i, "json", earliest);
                    if (consumer.post("/subscription", "{\"topics\":[\"" + topic + "\"]}")
                                    .statusCode()
                            == 204) {
                        consumer.records("?timeout=20000");
                        other.await(() -> members(admin) == 0);
                        assertError(consumer.get("/assignments"), 404, 40_403);
                        break;
                    }
                }
            }
            // what it had received last was not processed for certain
            assertThat(committed(other).getOrDefault(0, 0L)).isZero();
        }
    }

    private int members(Admin admin) {
        try {
            return admin.describeConsumerGroups(List.of(group))
                    .all()
                    .get(20, TimeUnit.SECONDS)
                    .get(group)
                    .members()
                    .size();
        } catch (ExecutionException noGroup) {
            return 0;
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void shouldReadThePartitionsAndPositionsThatTheClientChooses() throws Exception {
        broker.createTopic(topic, 2, Map.of());
        append(0, "0", "1", "2");
        append(1, "9");
        Consumer consumer = fromStart("c").assign(topic, 0);

        assertThat(consumer.values(3)).containsExactly("0", "1", "2");
        consumer.change("/positions", offsets(topic, 0, 1));
        assertThat(consumer.values(2)).containsExactly("1", "2");
        consumer.change("/positions/beginning", partitions(topic, 0));
        assertThat(consumer.values(3)).containsExactly("0", "1", "2");
        consumer.change("/positions/end", partitions(topic, 0));
        assertThat(consumer.records("?timeout=0").body()).isEqualTo("[]\n");
        append(0, "3");
        assertThat(consumer.values(1)).containsExactly("3");
        consumer.change("/offsets", "");

        assertThat(committed(broker)).containsExactly(Map.entry(0, 4L));
        assertThat(consumer.get("/assignments").body()).isEqualTo(partitions(topic, 0) + "\n");
        consumer.assign(topic, 1);
        assertThat(consumer.values(1)).containsExactly("9");
        // and it begins at the committed offset of a partition that it had before
        consumer.assign(topic, 0);
        assertThat(consumer.records("?timeout=0").body()).isEqualTo("[]\n");
    }

    @Test
    void shouldNameThePartitionThatCannotBeRead() throws Exception {
        broker.createTopic(topic, 4, Map.of());
        broker.createTopic(topic + "-gone", 4, Map.of());
        Consumer consumer = fromStart("c");
        consumer.change(
                "/assignments",
                "{\"partitions\":[{\"topic\":\"" + topic + "\",\"partition\":3},{\"topic\":\"" + topic
                        + "-gone\",\"partition\":2}]}");
        assertThat(consumer.records("?timeout=0").statusCode()).isEqualTo(200);
        try (Admin admin = broker.admin()) {
            admin.deleteTopics(List.of(topic + "-gone")).all().get(20, TimeUnit.SECONDS);
        }

        HttpResponse<String> response = consumer.records("?timeout=0");

        assertThat(response.statusCode()).as(response.body()).isEqualTo(404);
        assertThat(response.body()).contains("partition " + topic + "-gone-2");
    }

    @Test
    void shouldReadTheTopicsThatMatchAPatternAlsoLaterOnes() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        append(0, "0");
        Consumer consumer = fromStart("c").change("/subscription", "{\"topic_pattern\":\"" + topic + "(-.*)?\"}");
        assertThat(consumer.values(1)).containsExactly("0");

        broker.createTopic(topic + "-later", 1, Map.of());
        append(broker, topic + "-later", 0, "1");

        List<JsonNode> records = consumer.read(1);
        assertThat(records.get(0).get("topic").asText()).isEqualTo(topic + "-later");
        assertThat(consumer.get("/subscription").body())
                .isEqualTo("{\"topics\":[\"" + topic + "\",\"" + topic + "-later\"]}\n");
    }

    @Test
    void shouldBeginWhereTheClientHasChosenWithoutACommittedOffset() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        append(0, "0");
        Consumer none = consumer("none", ",\"auto.offset.reset\":\"none\"").assign(topic, 0);
        Consumer latest = new Consumer(gateway, group + "-latest", "c", "json", "").assign(topic, 0);

        assertError(none.records(""), 409, 40_903);
        none.change("/positions", offsets(topic, 0, 0));
        assertThat(none.values(1)).containsExactly("0");
        append(0, "1");
        assertThat(latest.values(1)).containsExactly("1");
    }

    @Test
    void shouldEndAResponseAtItsSizeAndBeforeARecordThatIsNotJson() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        append(0, "1234", "5678", "\"9\"", "not JSON", "{\"a\":1} 2", "10");
        Consumer consumer = fromStart("c").assign(topic, 0);

        assertThat(consumer.records("?max_bytes=7").body()).contains("1234").doesNotContain("5678");
        assertThat(consumer.records("?max_bytes=1").body()).contains("5678").doesNotContain("9\"");
        assertThat(consumer.values(1)).containsExactly("\"9\"");
        for (int offset = 3; offset < 5; offset++) {
            HttpResponse<String> poison = consumer.records("");
            assertError(poison, 422, 50_002);
            assertThat(poison.body()).contains("offset " + offset + " of partition " + topic + "-0");
            consumer.change("/positions", offsets(topic, 0, offset + 1));
        }
        assertThat(consumer.values(1)).containsExactly("10");
    }

    @Test
    void shouldReadARecordAgainWhenTheClientHasLeftBeforeItsResponse() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        Consumer consumer = fromStart("c").assign(topic, 0);
        Socket leaves = gateway.connect();
        send(leaves, consumer.path + "/records?timeout=60000");
        try (Socket waits = gateway.connect()) {
            send(waits, consumer.path + "/assignments");
            leaves.close();
            assertThat(GatewayClient.readHead(waits)).startsWith("HTTP/1.1 200 ");
        }

        append(0, "0");

        assertThat(consumer.values(1)).containsExactly("0");
    }

    private static void send(Socket socket, String path) throws Exception {
        socket.getOutputStream()
                .write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                        .getBytes(ISO_8859_1));
    }

    @Test
    void shouldKeepOneResponseForAClientThatDoesNotRead() throws Exception {
        broker.createTopic(topic, 1, Map.of("max.message.bytes", "2000000"));
        String large = "\"" + "x".repeat(200_000) + "\"";
        append(0, large, large, large, large, large, large, large);
        Consumer slow = fromStart("slow").assign(topic, 0);
        Consumer fast = fromStart("fast").assign(topic, 0);
        try (Socket socket = gateway.connect(4096)) {
            send(socket, slow.path + "/records");
            assertThat(GatewayClient.readHead(socket)).startsWith("HTTP/1.1 200 ");

            // when it does not read on, then others are served
            assertThat(fast.read(7)).hasSize(7);
            assertThat(slow.get("/assignments").statusCode()).isEqualTo(200);

            // and it gets what fits into one response when it does
            String body = GatewayClient.readAll(socket);
            assertThat(body.split("\"offset\":", -1)).hasSize(6);
        }
        assertThat(slow.read(2)).hasSize(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "POST|/consumers/g|{\"format\":\"avro\"}|422|42204",
                "POST|/consumers/g|{\"auto.offset.reset\":\"smallest\"}|422|42204",
                "POST|/consumers/g|{\"auto.commit.enable\":\"yes\"}|422|42204",
                "POST|/consumers/g|{\"consumer.request.timeout.ms\":-1}|422|42204",
                "POST|/consumers/g|{\"nmae\":\"c\"}|400|400",
                "POST|/consumers/g|{\"name\":7}|400|400",
                "POST|/consumers/g|[]|400|400",
                "POST|/consumers/g|{\"name\":\"c\",\"name\":\"d\"}|400|400",
                "POST|/consumers/g|{} {}|400|400",
                "POST|/consumers/GROUP|{\"name\":\"c\"}|409|40902",
                "GET|/consumers/GROUP/instances/none/records||404|40403",
                "GET|/consumers/none/instances/c/records||404|40403",
                "DELETE|/consumers/GROUP/instances/none||404|40403",
                "POST|INSTANCE/subscription|{\"topics\":[\"TOPIC\"],\"topic_pattern\":\"a\"}|400|400",
                "POST|INSTANCE/subscription|{}|400|400",
                "POST|INSTANCE/subscription|{\"topics\":[7]}|400|400",
                "POST|INSTANCE/subscription|{\"topics\":[\"TOPIC\"]}|409|40903",
                "POST|INSTANCE/subscription|{\"topic_pattern\":\"(\"}|400|400",
                "POST|INSTANCE/assignments|{\"partitions\":[{\"topic\":\"none\",\"partition\":0}]}|404|40401",
                "POST|INSTANCE/assignments|{\"partitions\":[{\"topic\":\"TOPIC\",\"partition\":9}]}|404|40402",
                "POST|INSTANCE/assignments|{\"partitions\":[{\"topic\":\"TOPIC\"}]}|400|400",
                "POST|INSTANCE/assignments|{\"partitions\":[{\"topic\":\"TOPIC\",\"partition\":-1}]}|400|400",
                "POST|INSTANCE/assignments||400|400",
                "POST|INSTANCE/positions|{\"offsets\":[{\"topic\":\"none\",\"partition\":0,\"offset\":0}]}|409|40903",
                "POST|INSTANCE/positions|{\"offsets\":[{\"topic\":\"TOPIC\",\"partition\":0,\"offset\":-1}]}|400|400",
                "POST|INSTANCE/positions/end|{\"partitions\":[{\"topic\":\"none\",\"partition\":0}]}|409|40903",
                "POST|INSTANCE/offsets|{\"offsets\":{}}|400|400",
                "GET|INSTANCE/records?timeout=x||400|400",
                "GET|INSTANCE/offsets||400|400",
                "PUT|INSTANCE/records|{}|405|405"
            })
    void shouldRefuseWithTheCodesOfConfluentsProxy(String method, String path, String body, int status, int code)
            throws Exception {
        broker.createTopic(topic, 1, Map.of());
        Consumer consumer = fromStart("c").assign(topic, 0);
        String filled = body == null ? "" : body.replace("TOPIC", topic);

        HttpResponse<String> response = gateway.send(
                gateway.request(path.replace("INSTANCE", consumer.path).replace("GROUP", group))
                        .header("Content-Type", TYPE)
                        .method(method, BodyPublishers.ofString(filled)));

        if (status == 405) {
            assertThat(response.statusCode()).isEqualTo(405); // which no route has refused
        } else {
            assertError(response, status, code);
        }
        assertThat(consumer.assigned()).as("nothing has changed").isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "application/vnd.kafka.json.v2+json, 200, 0",
        "*/*, 200, 0",
        "'text/html, application/json;q=0.5', 200, 0",
        "application/vnd.kafka.binary.v2+json, 406, 40601",
        "application/vnd.kafka.avro.v2+json, 406, 40601",
        "text/html, 406, 406"
    })
    void shouldRespondInTheFormatOfTheInstanceOnly(String accept, int status, int code) throws Exception {
        Consumer consumer = fromStart("c");

        HttpResponse<String> response = gateway.send(
                gateway.request(consumer.path + "/records?timeout=0").header("Accept", accept));

        if (status == 200) {
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.headers().firstValue("Content-Type")).hasValue(JSON);
        } else {
            assertError(response, status, code);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/xml", "application/vnd.kafka.avro.v2+json"})
    void shouldRefuseBodiesOfOtherTypes(String type) throws Exception {
        assertError(gateway.post("/consumers/" + group, type, "{}"), 415, 415);
    }

    @Test
    void shouldBoundBodiesAndInstances(@TempDir Path data) throws Exception {
        String deep = "{\"topics\":" + "[".repeat(50_000) + "]".repeat(50_000) + "}";
        Consumer consumer = fromStart("c");
        assertError(consumer.post("/subscription", deep), 400, 400);
        assertError(consumer.post("/subscription", "{\"topics\":[\"" + "x".repeat(300_000) + "\"]}"), 413, 413);
        String many = "\"t\",".repeat(10) + "\"u\"";
        assertThat(consumer.post("/subscription", "{\"topics\":[" + many + "]}").statusCode())
                .isEqualTo(204);

        try (TestBroker other = started(data)) {
            GatewayClient client = new GatewayClient(other.gatewayPort());
            TreeSet<Integer> statuses = new TreeSet<>();
            for (int i = 0; i < 250; i++) {
                statuses.add(client.post("/consumers/g", TYPE, "").statusCode());
            }
            assertThat(statuses).containsExactly(200);
            assertError(client.post("/consumers/g", TYPE, "{\"name\":\"one-more\"}"), 503, 50_003);
        }
    }

    @Test
    void shouldRefuseClientsWithoutRights(@TempDir Path closed) throws Exception {
        try (TestBroker other = started(closed, "authorization.enabled", "true", "super.users", "User:root")) {
            assertError(
                    new GatewayClient(other.gatewayPort()).post("/consumers/g", TYPE, "{\"name\":\"c\"}"), 403, 40_301);
        }
    }

    @Test
    void shouldKeepNothingOfAReadThatHasItsResponse() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        append(0, "0");
        Consumer consumer = fromStart("c").assign(topic, 0);

        for (int i = 0; i < 50; i++) {
            assertThat(consumer.records("?timeout=60000").body()).contains("\"offset\":0");
            consumer.change("/positions", offsets(topic, 0, 0));
        }

        assertThat(instances("io.journalq.server.gateway.confluent.ConsumerRead"))
                .isLessThan(25);
    }

    /** The number of objects of a class that survive a full collection. */
    private static long instances(String type) throws Exception {
        return HeapUse.histogram(ProcessHandle.current().pid()).stream()
                .map(line -> line.strip().split(" +"))
                .filter(columns -> columns.length > 3 && columns[3].equals(type))
                .mapToLong(columns -> Long.parseLong(columns[1]))
                .sum();
    }

    @Test
    void shouldReadRecordsOfLargeBatchesInManyResponses() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        int count = 3_000;
        try (KafkaProducer<byte[], byte[]> producer =
                broker.producer(Map.of("compression.type", "gzip", "linger.ms", "20", "batch.size", "500000"))) {
            byte[] value = new byte[1_000];
            Arrays.fill(value, (byte) 'x');
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                sent.add(producer.send(new ProducerRecord<>(topic, value)));
            }
            for (Future<RecordMetadata> each : sent) {
                each.get(20, TimeUnit.SECONDS);
            }
        }
        Consumer consumer = new Consumer(gateway, group, "c", "binary", ",\"auto.offset.reset\":\"earliest\"");

        List<JsonNode> records = consumer.assign(topic, 0).read(count);

        for (int i = 0; i < count; i++) {
            assertThat(records.get(i).get("offset").asInt()).isEqualTo(i);
        }
        assertThat(Base64.getDecoder()
                        .decode(records.get(count - 1).get("value").asText()))
                .hasSize(1_000);
    }
}
