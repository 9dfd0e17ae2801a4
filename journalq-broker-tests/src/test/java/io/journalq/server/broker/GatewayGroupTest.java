package io.journalq.server.broker;

import static io.journalq.server.broker.GatewayClient.NDJSON;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.ListOffsetsResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.gateway.consume.Cursor;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** WebSockets as members of consumer groups. */
@Timeout(120)
class GatewayGroupTest {
    private static final Duration POLL = Duration.ofMillis(50);

    @TempDir
    private static Path directory;

    private static TestBroker broker;
    private static GatewayClient gateway;
    private static int topics;

    private final String topic = "t" + ++topics;
    private final String group = "g" + topics;

    @BeforeAll
    static void start() throws Exception {
        broker = new TestBroker(directory)
                .with("gateway.listener", "127.0.0.1:0")
                .with("group.consumer.heartbeat.interval.ms", "500")
                .with("group.consumer.min.heartbeat.interval.ms", "500")
                .with("offsets.topic.num.partitions", "1")
                .with("shards", "2")
                .start();
        gateway = new GatewayClient(broker.gatewayPort());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    /** Appends the numbers of a range to a partition. */
    private void append(int partition, int from, int to) throws Exception {
        StringBuilder lines = new StringBuilder();
        for (int i = from; i < to; i++) {
            lines.append("{\"partition\":" + partition + ",\"value\":\"" + i + "\"}\n");
        }
        gateway.post("/v1/topics/" + topic + "/records", NDJSON, lines.toString());
    }

    private String subscribe(String more) {
        return "{\"type\":\"subscribe\",\"id\":1,\"topic\":\"" + topic + "\",\"group\":\"" + group + "\"" + more + "}";
    }

    private String ack(String cursor) {
        return "{\"type\":\"ack\",\"id\":\"a\",\"topic\":\"" + topic + "\",\"cursor\":\"" + cursor + "\"}";
    }

    private static JsonNode next(RawWebSocket socket, String type) throws Exception {
        JsonNode message = socket.message();
        assertThat(message.path("type").asText()).as(message.toString()).isEqualTo(type);
        return message;
    }

    private long committed(int partition) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
            return admin.listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get()
                    .get(new TopicPartition(topic, partition))
                    .offset();
        }
    }

    @Test
    void shouldJoinTheFirstGroupOfABroker(@TempDir Path fresh) throws Exception {
        try (TestBroker first =
                new TestBroker(fresh).with("gateway.listener", "127.0.0.1:0").start()) {
            first.createTopic(topic, 1, Map.of());
            try (RawWebSocket socket = RawWebSocket.open(new GatewayClient(first.gatewayPort()), RawWebSocket.JSON)) {
                socket.send(subscribe(",\"from\":\"start\",\"credit\":10"));

                next(socket, "subscribed");
                assertThat(next(socket, "assigned").path("cursor").asText()).isEqualTo("0:0");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {RawWebSocket.JSON, RawWebSocket.BATCH})
    void shouldContinueBehindWhatWasAcknowledgedWhenItConnectsAgain(String protocol) throws Exception {
        broker.createTopic(topic, 1, Map.of());
        append(0, 0, 10);

        // when
        try (RawWebSocket socket = RawWebSocket.open(gateway, protocol)) {
            socket.send(subscribe(",\"from\":\"start\",\"credit\":10"));
            JsonNode subscribed = next(socket, "subscribed");
            assertThat(subscribed.path("id").asInt()).isEqualTo(1);
            assertThat(subscribed.path("group").asText()).isEqualTo(group);
            assertThat(next(socket, "assigned").path("cursor").asText()).isEqualTo("0:0");
            assertThat(socket.read().text()).contains("\"type\":\"records\"");
            socket.send(ack("0:4"));
            socket.send(ack("0:6"));
            assertThat(next(socket, "acked").path("cursor").asText()).isEqualTo("0:4");
            assertThat(next(socket, "acked").path("id").asText()).isEqualTo("a");
        }

        // then
        assertThat(committed(0)).isEqualTo(6);
        try (RawWebSocket socket = RawWebSocket.open(gateway, RawWebSocket.JSON)) {
            socket.send(subscribe(",\"credit\":10"));
            next(socket, "subscribed");
            assertThat(next(socket, "assigned").path("cursor").asText()).isEqualTo("0:6");
            assertThat(socket.values(4)).containsExactly("6", "7", "8", "9");
        }
    }

    @Test
    void shouldReadAgainWhatWasNotAcknowledgedWhenItHasBegunAtTheEnd() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        append(0, 0, 2);
        try (RawWebSocket socket = RawWebSocket.open(gateway, RawWebSocket.JSON)) {
            socket.send(subscribe(",\"credit\":10"));
            next(socket, "subscribed");
            assertThat(next(socket, "assigned").path("cursor").asText()).isEqualTo("0:2");
            append(0, 2, 4);
            assertThat(socket.values(2)).containsExactly("2", "3");
        }

        try (RawWebSocket socket = RawWebSocket.open(gateway, RawWebSocket.JSON)) {
            socket.send(subscribe(",\"credit\":10"));
            next(socket, "subscribed");
            assertThat(next(socket, "assigned").path("cursor").asText()).isEqualTo("0:2");
            assertThat(socket.values(2)).containsExactly("2", "3");
        }
    }

    @Test
    void shouldShareThePartitionsWhenAKafkaConsumerIsInTheGroup() throws Exception {
        broker.createTopic(topic, 4, Map.of());
        try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
            try (RawWebSocket socket = RawWebSocket.open(gateway, RawWebSocket.JSON)) {
                socket.send(subscribe(",\"credit\":1000"));
                next(socket, "subscribed");
                Set<Integer> mine = new TreeSet<>(
                        Cursor.parse(next(socket, "assigned").path("cursor").asText())
                                .keySet());
                assertThat(mine).containsExactly(0, 1, 2, 3);

                // when a consumer joins
                consumer.subscribe(List.of(topic));
                broker.await(() -> {
                    consumer.poll(POLL);
                    return consumer.assignment().size() == 2;
                });

                // then each has two partitions, and gets the records of these
                next(socket, "revoked").get("partitions").forEach(partition -> mine.remove(partition.asInt()));
                assertThat(mine).hasSize(2);
                for (int partition = 0; partition < 4; partition++) {
                    append(partition, 10 * partition, 10 * partition + 5);
                }
                List<Integer> read = new ArrayList<>();
                broker.await(() -> {
                    consumer.poll(POLL).forEach(record -> read.add(record.partition()));
                    return read.size() == 10;
                });
                assertThat(read).doesNotContainAnyElementsOf(mine);
                List<String> values = socket.values(10);
                assertThat(values.stream().map(value -> Integer.parseInt(value) / 10))
                        .hasSameElementsAs(mine);

                // and a partition that it no longer has cannot be acknowledged
                int gone = consumer.assignment().iterator().next().partition();
                socket.send(ack(gone + ":0"));
                assertThat(next(socket, "error").toString()).contains("partition " + gone + " is not assigned");
            }

            // then the consumer has all when the WebSocket ends
            broker.await(() -> {
                consumer.poll(POLL);
                return consumer.assignment().size() == 4;
            });
        }
    }

    private KafkaConsumer<byte[], byte[]> consumer() {
        return new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        broker.bootstrap(),
                        "group.id",
                        group,
                        "group.protocol",
                        "consumer",
                        "auto.offset.reset",
                        "earliest"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }

    @Test
    void shouldCommitWhatWasAcknowledgedWhenTheTopicIsEndedAtOnce() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        append(0, 0, 10);
        try (RawWebSocket socket = RawWebSocket.open(gateway, RawWebSocket.JSON)) {
            socket.send(subscribe(",\"from\":\"start\",\"credit\":10"));
            next(socket, "subscribed");
            next(socket, "assigned");
            assertThat(socket.values(10)).hasSize(10);

            // when
            ByteArrayOutputStream messages = new ByteArrayOutputStream();
            for (String message :
                    List.of(ack("0:4"), ack("0:6"), "{\"type\":\"unsubscribe\",\"topic\":\"" + topic + "\"}")) {
                messages.writeBytes(RawWebSocket.frame(RawWebSocket.LAST | RawWebSocket.TEXT, message.getBytes(UTF_8)));
            }
            socket.write(messages.toByteArray());

            // then both have a response, and nobody has to read the records again
            List<String> responses = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                JsonNode message = socket.message();
                responses.add(
                        message.path("type").asText() + message.path("cursor").asText());
            }
            assertThat(responses).containsExactlyInAnyOrder("unsubscribed", "acked0:4", "acked0:6");
            assertThat(committed(0)).isEqualTo(6);

            // and the member has left
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
                broker.await(() -> members(admin) == 0);
            }
        }
    }

    @Test
    void shouldCommitWhatWasAcknowledgedWhenOneOfTheTopicsIsEndedAtOnce() throws Exception {
        String other = topic + "-other";
        broker.createTopic(topic, 1, Map.of());
        broker.createTopic(other, 1, Map.of());
        append(0, 0, 10);
        try (RawWebSocket socket = RawWebSocket.open(gateway, RawWebSocket.JSON)) {
            socket.send("{\"type\":\"subscribe\",\"topic\":\"" + other + "\",\"group\":\"" + group + "\"}");
            next(socket, "subscribed");
            next(socket, "assigned");
            socket.send(subscribe(",\"from\":\"start\",\"credit\":10"));
            next(socket, "subscribed");
            next(socket, "assigned");
            assertThat(socket.values(10)).hasSize(10);

            // when
            ByteArrayOutputStream messages = new ByteArrayOutputStream();
            for (String message :
                    List.of(ack("0:4"), ack("0:6"), "{\"type\":\"unsubscribe\",\"topic\":\"" + topic + "\"}")) {
                messages.writeBytes(RawWebSocket.frame(RawWebSocket.LAST | RawWebSocket.TEXT, message.getBytes(UTF_8)));
            }
            socket.write(messages.toByteArray());

            // then
            List<String> responses = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                JsonNode message = socket.message();
                responses.add(
                        message.path("type").asText() + message.path("cursor").asText());
            }
            assertThat(responses).containsExactlyInAnyOrder("unsubscribed", "acked0:4", "acked0:6");
            assertThat(committed(0)).isEqualTo(6);

            // and the topic can be read again from there
            socket.send(subscribe(",\"credit\":10"));
            next(socket, "subscribed");
            assertThat(next(socket, "assigned").path("cursor").asText()).isEqualTo("0:6");
        }
    }

    private int members(Admin admin) {
        try {
            return admin.describeConsumerGroups(List.of(group))
                    .describedGroups()
                    .get(group)
                    .get()
                    .members()
                    .size();
        } catch (ExecutionException | InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void shouldGoOnWithItsPartitionsWhenItSeeksPausesAndEndsATopic() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        append(0, 0, 3);
        try (RawWebSocket socket = RawWebSocket.open(gateway, RawWebSocket.JSON)) {
            socket.send(subscribe(",\"from\":\"start\",\"credit\":100"));
            next(socket, "subscribed");
            next(socket, "assigned");
            assertThat(socket.values(3)).containsExactly("0", "1", "2");

            socket.send("{\"type\":\"pause\"}");
            socket.send("{\"type\":\"seek\",\"topic\":\"" + topic + "\",\"cursor\":\"0:1\"}");
            next(socket, "sought");
            assertThat(socket.isSilent(300)).isTrue();
            socket.send("{\"type\":\"resume\",\"topic\":\"" + topic + "\"}");
            assertThat(socket.values(2)).containsExactly("1", "2");

            // when it ends the topic, the member leaves
            socket.send("{\"type\":\"unsubscribe\",\"topic\":\"" + topic + "\"}");
            next(socket, "unsubscribed");
            try (RawWebSocket other = RawWebSocket.open(gateway, RawWebSocket.JSON)) {
                other.send(subscribe(",\"from\":\"start\",\"credit\":100"));
                next(other, "subscribed");
                next(other, "assigned");
                assertThat(other.values(3)).containsExactly("0", "1", "2");
            }

            // and it can take a seat in another group
            socket.send(subscribe("").replace(group, group + "-other"));
            assertThat(next(socket, "subscribed").path("group").asText()).isEqualTo(group + "-other");
        }
    }

    @Test
    void shouldSayThatAnOffsetIsNotInTheLogWhenAMemberSeeksBehindTheEnd() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        append(0, 0, 3);
        try (RawWebSocket socket = RawWebSocket.open(gateway, RawWebSocket.JSON)) {
            socket.send(subscribe(",\"from\":\"end\",\"credit\":100"));
            next(socket, "subscribed");
            next(socket, "assigned");

            socket.send("{\"type\":\"seek\",\"id\":\"s\",\"topic\":\"" + topic + "\",\"cursor\":\"0:9\"}");

            next(socket, "sought");
            JsonNode error = next(socket, "error");
            assertThat(error.path("topic").asText()).isEqualTo(topic);
            assertThat(error.path("problem").path("status").asInt()).isEqualTo(416);
        }
    }

    /** The leader of the partition takes its time to say where the log ends. */
    @Test
    void shouldReadATopicThatIsSubscribedAgainWhenALookupOfTheFirstTimeFails() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        append(0, 0, 3);
        String other = topic + "-other";
        broker.createTopic(other, 1, Map.of());
        Queue<Consumer<Handler<ListOffsetsRequest>>> held = new ConcurrentLinkedQueue<>();
        List<Handler<?>> before = new ArrayList<>();
        try (RawWebSocket socket = RawWebSocket.open(gateway, RawWebSocket.JSON)) {
            socket.send(subscribe(",\"credit\":10").replace(topic + "\"", other + "\""));
            next(socket, "subscribed");
            next(socket, "assigned");
            broker.handlers().replace(ApiKey.LIST_OFFSETS, handler -> {
                before.add(handler);
                return new HeldLookups(handler.api(), held);
            });
            socket.send(subscribe(",\"from\":\"start\""));
            next(socket, "subscribed");
            broker.await(() -> held.size() == 1);

            // when
            socket.send("{\"type\":\"unsubscribe\",\"topic\":\"" + topic + "\"}");
            next(socket, "unsubscribed");
            socket.send(subscribe(",\"from\":\"start\""));
            next(socket, "subscribed");
            broker.await(() -> held.size() == 2);
            held.remove().accept(new FailingLookups(before.get(0).api()));

            // then
            assertThat(socket.isSilent(300)).isTrue();
            restoreLookups(before);
            held.remove().accept(lookups(before));
            assertThat(next(socket, "assigned").path("cursor").asText()).isEqualTo("0:0");
            assertThat(socket.values(3)).containsExactly("0", "1", "2");
        } finally {
            restoreLookups(before);
        }
    }

    private static void restoreLookups(List<Handler<?>> before) {
        broker.handlers().replace(ApiKey.LIST_OFFSETS, handler -> before.get(0));
    }

    @SuppressWarnings("unchecked") // it is the handler of this API
    private static Handler<ListOffsetsRequest> lookups(List<Handler<?>> before) {
        return (Handler<ListOffsetsRequest>) before.get(0);
    }

    /** @param held receives what lets another handler respond to a request */
    private record HeldLookups(ServedApi api, Queue<Consumer<Handler<ListOffsetsRequest>>> held)
            implements Handler<ListOffsetsRequest> {
        @Override
        public void handle(RequestContext context, ListOffsetsRequest request) {
            held.add(handler -> context.cycle().execute(() -> handler.handle(context, request)));
        }
    }

    private record FailingLookups(ServedApi api) implements Handler<ListOffsetsRequest> {
        @Override
        public void handle(RequestContext context, ListOffsetsRequest request) {
            context.respond(new ListOffsetsResponse()
                    .setTopics(request.topics().stream()
                            .map(topic -> new ListOffsetsResponse.ListOffsetsTopicResponse()
                                    .setName(topic.name())
                                    .setPartitions(topic.partitions().stream()
                                            .map(partition -> new ListOffsetsResponse.ListOffsetsPartitionResponse()
                                                    .setPartitionIndex(partition.partitionIndex())
                                                    .setErrorCode(ErrorCode.KAFKA_STORAGE_ERROR.code()))
                                            .toList()))
                            .toList()));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ack       | ,\"cursor\":\"0:9\"                        | is behind the last record sent",
                "ack       | ,\"cursor\":\"7:0\"                        | partition 7 is not assigned",
                "ack       | ,\"cursor\":\"x\"                          | the cursor is malformed",
                "ack       |                                            | no \"cursor\"",
                "seek      | ,\"from\":\"start\"                        | there is no member \"from\"",
                "subscribe | ,\"group\":\"other\"                       | subscribed already",
            })
    void shouldSayWhatIsWrongWhenAMessageOfAMemberIsRefused(String type, String more, String expected)
            throws Exception {
        broker.createTopic(topic, 1, Map.of());
        try (RawWebSocket socket = RawWebSocket.open(gateway, RawWebSocket.JSON)) {
            socket.send(subscribe(""));
            next(socket, "subscribed");
            next(socket, "assigned");

            socket.send("{\"type\":\"" + type + "\",\"topic\":\"" + topic + "\"" + (more == null ? "" : more) + "}");

            assertThat(next(socket, "error").toString().replace("\\\"", "\"")).contains(expected);
        }
    }

    @Test
    void shouldSayWhatIsWrongWhenASeatIsRefused() throws Exception {
        broker.createTopic(topic, 1, Map.of());
        try (RawWebSocket socket = RawWebSocket.open(gateway, RawWebSocket.JSON)) {
            socket.send(ack("0:0"));
            assertThat(next(socket, "error").toString()).contains("not read as a member of a group");
            socket.send(subscribe(",\"offset\":\"3\",\"partition\":\"0\""));
            assertThat(next(socket, "error").toString()).contains("there is no member");
            socket.send(subscribe("").replace(group, ""));
            assertThat(next(socket, "error").path("topic").asText()).isEqualTo(topic);

            socket.send(subscribe(""));
            next(socket, "subscribed");
            next(socket, "assigned");
            broker.createTopic(topic + "-2", 1, Map.of());
            socket.send(subscribe("").replace(topic + "\"", topic + "-2\"").replace(group, group + "-2"));
            assertThat(next(socket, "error").toString()).contains("the connection is a member of group " + group);
        }
    }
}
