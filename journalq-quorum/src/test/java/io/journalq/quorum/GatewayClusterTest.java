package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.common.protocol.message.EnvelopeRequest;
import io.journalq.common.protocol.message.EnvelopeResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.broker.Broker;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.peer.NettyPeerChannels;
import io.journalq.server.process.LoopbackPorts;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients of the HTTP gateway of one broker, whose partitions and groups are on another one. */
@Tag("long")
@Timeout(600)
class GatewayClusterTest {
    private static final int PARTITIONS = 6;
    private static final int GROUPS = 6;
    private static final int WAIT_SECONDS = 120;
    private static final int MOVES = 6;
    private static final int MIN_REQUESTS = 50;
    private static final Pattern VALUE = Pattern.compile("\"value\":\"([^\"]*)\"");

    @TempDir
    private static Path directory;

    private static final Map<Integer, Broker> BROKERS = new TreeMap<>();
    private static final Map<Integer, BrokerConfig> CONFIGS = new TreeMap<>();
    private static final Map<Integer, Integer> PORTS = new TreeMap<>();
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static Admin admin;

    @BeforeAll
    static void start() throws Exception {
        for (int node = 1; node <= 2; node++) {
            PORTS.put(node, LoopbackPorts.next());
            Map<String, String> all = new LinkedHashMap<>();
            all.put("node.id", Integer.toString(node));
            all.put("listeners", "PLAINTEXT://127.0.0.1:" + PORTS.get(node));
            all.put("admin.listener", "");
            all.put("gateway.listener", "127.0.0.1:0");
            all.put("authorization.enabled", "true");
            all.put("super.users", "User:ANONYMOUS");
            all.put("write.ahead.max.bytes", "1048576");
            all.put("shutdown.timeout.ms", "3000");
            all.put("group.consumer.min.heartbeat.interval.ms", "100");
            all.put("group.consumer.heartbeat.interval.ms", "100");
            all.put("data.directories", directory.resolve("broker" + node).toString());
            all.put("quorum.listener", "127.0.0.1:" + LoopbackPorts.next());
            all.put("cluster.join", node == 1 ? "" : "127.0.0.1:" + PORTS.get(1));
            BrokerConfig config = BrokerConfig.defaults();
            for (Map.Entry<String, String> setting : all.entrySet()) {
                config = config.with(setting.getKey(), setting.getValue(), ConfigOrigin.COMMAND_LINE);
            }
            CONFIGS.put(node, config);
            BROKERS.put(node, Broker.start(config));
        }
        admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + PORTS.get(1)));
    }

    @AfterAll
    static void close() {
        admin.close();
        BROKERS.values().forEach(Broker::close);
    }

    /** A topic whose partitions are led by both brokers, which know them. */
    private static void createTopic(String name) throws Exception {
        createTopic(name, 1);
    }

    private static void createTopic(String name, int replicas) throws Exception {
        admin.createTopics(List.of(new NewTopic(name, PARTITIONS, (short) replicas)))
                .all()
                .get(WAIT_SECONDS, TimeUnit.SECONDS);
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        for (int node : BROKERS.keySet()) {
            while (send(node, "POST", name, "{\"records\":[]}").statusCode() != 200) {
                assertThat(System.nanoTime()).isLessThan(deadlineNanos);
                Thread.sleep(10);
            }
        }
        Set<Integer> leaders = describe(name).stream()
                .map(partition -> partition.leader().id())
                .collect(Collectors.toSet());
        assertThat(leaders).containsExactlyInAnyOrder(1, 2);
    }

    private static HttpRequest.Builder request(int node, String path) {
        return HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + BROKERS.get(node).gatewayPort() + path));
    }

    private static HttpResponse<String> get(int node, String path) throws Exception {
        return HTTP.send(request(node, path).build(), BodyHandlers.ofString());
    }

    private static HttpResponse<String> send(int node, String method, String topic, String body, String... headers)
            throws Exception {
        HttpRequest.Builder request = request(node, "/v1/topics/" + topic + "/records")
                .header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return HTTP.send(request.build(), BodyHandlers.ofString());
    }

    /** A record for each partition. */
    private static String records(String prefix) {
        return "{\"records\":["
                + IntStream.range(0, PARTITIONS)
                        .mapToObj(i -> "{\"partition\":" + i + ",\"value\":\"" + prefix + i + "\"}")
                        .collect(Collectors.joining(","))
                + "]}";
    }

    private static Set<String> values(String prefix) {
        return IntStream.range(0, PARTITIONS).mapToObj(i -> prefix + i).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> valuesIn(String text) {
        Set<String> values = new TreeSet<>();
        Matcher value = VALUE.matcher(text);
        while (value.find()) {
            values.add(value.group(1));
        }
        return values;
    }

    @Test
    void shouldAppendAndReadThroughEitherBroker() throws Exception {
        createTopic("both");
        HttpResponse<String> created = HTTP.send(
                request(1, "/v1/topics/both/producers")
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString());
        String producer = created.body().replaceAll("(?s).*\"producer\":\"([^\"]*)\".*", "$1");

        HttpResponse<String> first = send(1, "POST", "both", records("a"), "JQ-Producer", producer);
        HttpResponse<String> again = send(2, "POST", "both", records("a"), "JQ-Producer", producer);
        HttpResponse<String> second = send(2, "POST", "both", records("b"));

        assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
        assertThat(first.body()).contains("\"records\":6,");
        assertThat(again.body()).as("the same request at another broker").isEqualTo(first.body());
        assertThat(second.statusCode()).as(second.body()).isEqualTo(200);
        Set<String> all = values("a");
        all.addAll(values("b"));
        for (int node : BROKERS.keySet()) {
            HttpResponse<String> read = get(node, "/v1/topics/both/records");
            assertThat(valuesIn(read.body())).isEqualTo(all);
            assertThat(read.body()).contains("\"atEnd\":true").doesNotContain("\"error\"");
        }
        // and records that do not exist yet are waited for
        HttpResponse<String> waited = get(1, "/v1/topics/both/records?from=end&wait=200");
        assertThat(waited.body()).as(waited.body()).contains("\"atEnd\":true").doesNotContain("\"error\"");
    }

    @Test
    void shouldSendEventsOfAllPartitionsAsTheyAreAppended() throws Exception {
        createTopic("events");
        HttpResponse<java.io.InputStream> events =
                HTTP.send(request(1, "/v1/topics/events/events").build(), BodyHandlers.ofInputStream());
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(events.body(), StandardCharsets.UTF_8))) {
            assertThat(lines.readLine()).isEqualTo("retry: 1000");
            assertThat(lines.readLine()).startsWith("id: ");
            assertThat(send(2, "POST", "events", records("e")).statusCode()).isEqualTo(200);
            Set<String> received = new TreeSet<>();
            while (received.size() < PARTITIONS) {
                received.addAll(valuesIn(lines.readLine()));
            }
            assertThat(received).isEqualTo(values("e"));
        }
    }

    @Test
    void shouldReadAsAMemberOfAGroupWhereverItsCoordinatorIs() throws Exception {
        createTopic("work");
        assertThat(send(1, "POST", "work", records("w")).statusCode()).isEqualTo(200);
        Set<Integer> coordinators = new TreeSet<>();
        for (int i = 0; i < GROUPS; i++) {
            String group = "group" + i;
            BlockingQueue<String> messages = new LinkedBlockingQueue<>();
            WebSocket socket = open(1 + i % 2, messages::add);
            socket.sendText(
                            "{\"type\":\"subscribe\",\"topic\":\"work\",\"group\":\"" + group
                                    + "\",\"from\":\"start\",\"credit\":1000}",
                            true)
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);

            Set<String> received = new TreeSet<>();
            String cursor = null;
            while (received.size() < PARTITIONS) {
                String message = next(messages);
                received.addAll(valuesIn(message));
                if (message.contains("\"assigned\"")) {
                    cursor = message;
                }
            }
            assertThat(received).isEqualTo(values("w"));
            assertThat(cursor).isNotNull();
            String all = IntStream.range(0, PARTITIONS).mapToObj(p -> p + ":1").collect(Collectors.joining(","));
            socket.sendText("{\"type\":\"ack\",\"topic\":\"work\",\"cursor\":\"" + all + "\"}", true)
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
            String acked = next(messages);
            while (!acked.contains("\"acked\"")) {
                assertThat(acked).doesNotContain("\"error\"");
                acked = next(messages);
            }
            Map<TopicPartition, ?> committed = admin.listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
            assertThat(committed).hasSize(PARTITIONS);
            coordinators.add(admin.describeConsumerGroups(List.of(group))
                    .all()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS)
                    .get(group)
                    .coordinator()
                    .id());
            socket.abort();
        }
        assertThat(coordinators)
                .as("some of the groups were at the other broker")
                .containsExactlyInAnyOrder(1, 2);

        // and each broker shows all groups with their lag in all partitions
        for (int node : BROKERS.keySet()) {
            HttpResponse<String> groups = get(node, "/v1/groups?query=group");
            assertThat(groups.body()).as(groups.body()).contains("\"matching\":" + GROUPS);
            assertThat(groups.body().split("\"partitions\":6,\"lag\":0,", -1)).hasSize(GROUPS + 1);
            for (int i = 0; i < GROUPS; i++) {
                assertThat(get(node, "/v1/groups/group" + i + "/offsets").body().split("\"end\":1,\"lag\":0,", -1))
                        .hasSize(PARTITIONS + 1);
            }
        }
    }

    /** Partitions, offsets and values of records, as the gateway writes them. */
    private static final class Received {
        private static final Pattern RECORD =
                Pattern.compile("\"partition\":(\\d+),\"offset\":(\\d+),[^}]*\"value\":\"([^\"]*)\"");
        private final Set<String> values = ConcurrentHashMap.newKeySet();
        private final Map<String, Long> lastOffsets = new ConcurrentHashMap<>();
        private final Queue<String> unexpected = new ConcurrentLinkedQueue<>();

        void add(String text) {
            if (text.contains("problem") || text.contains("error")) {
                unexpected.add(text);
            }
            Matcher record = RECORD.matcher(text);
            while (record.find()) {
                long offset = Long.parseLong(record.group(2));
                Long last = lastOffsets.put(record.group(1), offset);
                if (last != null && offset <= last) {
                    unexpected.add("offset " + offset + " behind " + last + " in partition " + record.group(1));
                }
                values.add(record.group(3));
            }
        }
    }

    /** Makes the other replica of each partition its leader. */
    private static void moveLeaders(String topic) throws Exception {
        Map<TopicPartition, Optional<NewPartitionReassignment>> reversed = new HashMap<>();
        Map<TopicPartition, Integer> leaders = new HashMap<>();
        for (TopicPartitionInfo partition : describe(topic)) {
            List<Integer> replicas =
                    new ArrayList<>(partition.replicas().stream().map(Node::id).toList());
            Collections.reverse(replicas);
            TopicPartition name = new TopicPartition(topic, partition.partition());
            reversed.put(name, Optional.of(new NewPartitionReassignment(replicas)));
            leaders.put(name, replicas.get(0));
        }
        admin.alterPartitionReassignments(reversed).all().get(WAIT_SECONDS, TimeUnit.SECONDS);
        ProcessCluster.await("other leaders", () -> {
            admin.electLeaders(ElectionType.PREFERRED, leaders.keySet())
                    .partitions()
                    .get(WAIT_SECONDS, TimeUnit.SECONDS);
            return describe(topic).stream()
                    .allMatch(partition -> partition.leader() != null
                            && partition.leader().id()
                                    == leaders.get(new TopicPartition(topic, partition.partition())));
        });
    }

    private static List<TopicPartitionInfo> describe(String topic) throws Exception {
        return admin.describeTopics(List.of(topic))
                .allTopicNames()
                .get(WAIT_SECONDS, TimeUnit.SECONDS)
                .get(topic)
                .partitions();
    }

    @Test
    void shouldGoOnWithStreamsWhenLeadersMove() throws Exception {
        createTopic("moving", 2);
        Received ofEvents = new Received();
        HttpResponse<java.io.InputStream> events =
                HTTP.send(request(1, "/v1/topics/moving/events").build(), BodyHandlers.ofInputStream());
        BufferedReader lines = new BufferedReader(new InputStreamReader(events.body(), StandardCharsets.UTF_8));
        AtomicBoolean ended = new AtomicBoolean();
        Thread reading = new Thread(() -> {
            try {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    ofEvents.add(line);
                }
                ofEvents.unexpected.add("the end of the stream");
            } catch (IOException failure) {
                if (!ended.get()) {
                    ofEvents.unexpected.add(failure.toString());
                }
            }
        });
        reading.start();
        Received ofSocket = new Received();
        WebSocket socket = open(2, ofSocket::add);
        socket.sendText("{\"type\":\"subscribe\",\"topic\":\"moving\",\"from\":\"start\",\"credit\":1000000}", true)
                .get(WAIT_SECONDS, TimeUnit.SECONDS);

        // when
        Set<String> acknowledged = new TreeSet<>();
        AtomicBoolean moved = new AtomicBoolean();
        Thread moving = new Thread(() -> {
            try {
                for (int i = 0; i < MOVES; i++) {
                    moveLeaders("moving");
                }
            } catch (Exception failure) {
                ofEvents.unexpected.add("leaders did not move: " + failure);
            } finally {
                moved.set(true);
            }
        });
        moving.start();
        for (int i = 0; !moved.get() || acknowledged.size() < MIN_REQUESTS * PARTITIONS; i++) {
            String prefix = "m" + i + "-";
            if (send(1 + i % 2, "POST", "moving", records(prefix)).statusCode() == 200) {
                acknowledged.addAll(values(prefix));
            }
        }

        // then
        for (Received received : List.of(ofEvents, ofSocket)) {
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
            while (!received.values.containsAll(acknowledged) && System.nanoTime() < deadlineNanos) {
                Thread.sleep(10);
            }
            assertThat(received.unexpected).isEmpty();
            assertThat(received.values).containsAll(acknowledged);
        }
        ended.set(true);
        events.body().close();
        reading.join();
        socket.abort();
    }

    @Test
    void shouldBeginStreamsWhereTheyWereWhileLeadersMove() throws Exception {
        createTopic("resumed", 2);
        AtomicBoolean moved = new AtomicBoolean();
        Queue<String> unexpected = new ConcurrentLinkedQueue<>();
        Thread moving = new Thread(() -> {
            try {
                for (int i = 0; i < MOVES; i++) {
                    moveLeaders("resumed");
                }
            } catch (Exception failure) {
                unexpected.add("leaders did not move: " + failure);
            } finally {
                moved.set(true);
            }
        });
        moving.start();
        String last = IntStream.range(0, PARTITIONS).mapToObj(p -> p + ":0").collect(Collectors.joining(","));
        for (int i = 0; !moved.get(); i++) {
            HttpResponse<java.io.InputStream> events = HTTP.send(
                    request(1 + i % 2, "/v1/topics/resumed/events")
                            .header("Last-Event-ID", last)
                            .build(),
                    BodyHandlers.ofInputStream());
            if (events.statusCode() != 200) {
                unexpected.add(new String(events.body().readAllBytes(), StandardCharsets.UTF_8));
            }
            events.body().close();
        }
        moving.join();
        assertThat(unexpected).isEmpty();
    }

    private static HttpResponse<String> consumer(int node, String method, String path, String body) throws Exception {
        return HTTP.send(
                request(node, "/consumers/" + path)
                        .header("Content-Type", "application/vnd.kafka.v2+json")
                        .method(method, BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    @Test
    void shouldReadAsAConsumerInstanceOfOneBrokerWhereverItsGroupAndPartitionsAre() throws Exception {
        createTopic("proxied");
        createTopic("proxied-too");
        String records = "{\"records\":["
                + IntStream.range(0, PARTITIONS)
                        .mapToObj(i -> "{\"partition\":" + i + ",\"value\":\"\\\"p" + i + "\\\"\"}")
                        .collect(Collectors.joining(","))
                + "]}";
        assertThat(send(1, "POST", "proxied", records).statusCode()).isEqualTo(200);
        assertThat(send(2, "POST", "proxied-too", records).statusCode()).isEqualTo(200);
        for (int i = 0; i < GROUPS; i++) {
            int node = 1 + i % 2;
            String group = "proxied" + i;
            String instance = group + "/instances/c";
            HttpResponse<String> created = consumer(
                    node, "POST", group, "{\"name\":\"c\",\"format\":\"json\",\"auto.offset.reset\":\"earliest\"}");
            assertThat(created.body())
                    .contains("127.0.0.1:" + BROKERS.get(node).gatewayPort() + "/consumers/" + instance);
            consumer(node, "POST", instance + "/subscription", "{\"topics\":[\"proxied\",\"proxied-too\"]}");

            StringBuilder received = new StringBuilder();
            while (received.toString().split("\"topic\"", -1).length <= 2 * PARTITIONS) {
                HttpResponse<String> read = consumer(node, "GET", instance + "/records?timeout=5000", "");
                assertThat(read.statusCode()).as(read.body()).isEqualTo(200);
                received.append(read.body());
            }
            HttpResponse<String> committed = consumer(node, "POST", instance + "/offsets", "");

            assertThat(valuesIn(received.toString())).isEqualTo(values("p"));
            assertThat(committed.statusCode()).as(committed.body()).isEqualTo(204);
            assertThat(admin.listConsumerGroupOffsets(group)
                            .partitionsToOffsetAndMetadata()
                            .get(WAIT_SECONDS, TimeUnit.SECONDS))
                    .hasSize(2 * PARTITIONS)
                    .allSatisfy((partition, offset) ->
                            assertThat(offset.offset()).as("%s", partition).isEqualTo(1));
            assertThat(consumer(3 - node, "GET", instance + "/assignments", "").statusCode())
                    .as("the other broker does not have it")
                    .isEqualTo(404);
            assertThat(consumer(node, "DELETE", instance, "").statusCode()).isEqualTo(204);
        }
    }

    private static WebSocket open(int node, Consumer<String> messages) throws Exception {
        return HTTP.newWebSocketBuilder()
                .subprotocols("journalq.json.v1")
                .buildAsync(
                        URI.create("ws://127.0.0.1:" + BROKERS.get(node).gatewayPort() + "/v1/ws"),
                        new WebSocket.Listener() {
                            private final StringBuilder part = new StringBuilder();

                            @Override
                            public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
                                part.append(data);
                                if (last) {
                                    messages.accept(part.toString());
                                    part.setLength(0);
                                }
                                socket.request(1);
                                return null;
                            }
                        })
                .get(WAIT_SECONDS, TimeUnit.SECONDS);
    }

    private static String next(BlockingQueue<String> messages) throws Exception {
        String message = messages.poll(WAIT_SECONDS, TimeUnit.SECONDS);
        assertThat(message).as("a message within the time").isNotNull();
        return message;
    }

    private static HttpResponse<String> change(String path, String body) throws Exception {
        return HTTP.send(
                request(1, path)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    private static int coordinator(String group) throws Exception {
        return admin.describeConsumerGroups(List.of(group))
                .all()
                .get(WAIT_SECONDS, TimeUnit.SECONDS)
                .get(group)
                .coordinator()
                .id();
    }

    @Test
    void shouldChangeNothingWhenTheLeaderOfAPartitionIsAway() throws Exception {
        createTopic("away");
        assertThat(send(1, "POST", "away", records("a")).statusCode()).isEqualTo(200);
        int groups = 0;
        String reset;
        do {
            reset = "/v1/groups/away" + groups + "/offsets";
            assertThat(change(reset, "{\"topic\":\"away\",\"to\":\"start\",\"execute\":true}")
                            .statusCode())
                    .isEqualTo(200);
            groups++;
        } while (coordinator("away" + (groups - 1)) != 1);

        List<HttpResponse<String>> responses = new ArrayList<>();
        BROKERS.get(2).close();
        try {
            responses.add(change("/v1/topics/away/truncate", "{}"));
            responses.add(change("/v1/topics/away/truncate", "{\"execute\":true}"));
            responses.add(change(reset, "{\"to\":\"end\",\"execute\":true}"));
            responses.add(change(reset, "{\"to\":\"timestamp\",\"timestamp\":1,\"execute\":true}"));
        } finally {
            BROKERS.put(2, Broker.start(CONFIGS.get(2)));
        }

        assertThat(responses).allSatisfy(response -> {
            assertThat(response.statusCode()).as(response.body()).isEqualTo(503);
            assertThat(response.body()).contains("of topic away");
        });
        ProcessCluster.await("all records", () -> {
            HttpResponse<String> read = get(1, "/v1/topics/away/records");
            return valuesIn(read.body()).equals(values("a"));
        });
        ProcessCluster.await("the coordinators of other tests", () -> {
            admin.electLeaders(ElectionType.PREFERRED, null).partitions().get(WAIT_SECONDS, TimeUnit.SECONDS);
            return describe("__consumer_offsets").stream()
                            .map(partition -> partition.leader().id())
                            .distinct()
                            .count()
                    == 2;
        });
    }

    @Test
    void shouldAskForTheRightsOfTheClientWhoseRequestIsPassedOn() throws Exception {
        createTopic("secret");
        try (NettyPeerChannels peer = new NettyPeerChannels("test", null)) {
            ConsumerGroupHeartbeatResponse joined = (ConsumerGroupHeartbeatResponse) passOn(
                    peer,
                    new ConsumerGroupHeartbeatRequest()
                            .setGroupId("secret")
                            .setMemberId("m1")
                            .setMemberEpoch(0)
                            .setRebalanceTimeoutMs(30_000)
                            .setSubscribedTopicNames(List.of("secret"))
                            .setTopicPartitions(List.of()),
                    1);
            FetchResponse fetched = (FetchResponse) passOn(
                    peer,
                    new FetchRequest()
                            .setSessionEpoch(-1)
                            .setMaxBytes(1_000)
                            .setTopics(List.of(new FetchRequest.FetchTopic()
                                    .setTopic("secret")
                                    .setPartitions(
                                            List.of(new FetchRequest.FetchPartition().setPartitionMaxBytes(1_000))))),
                    12);

            assertThat(ErrorCode.of(joined.errorCode())).isEqualTo(ErrorCode.GROUP_AUTHORIZATION_FAILED);
            assertThat(ErrorCode.of(
                            fetched.responses().get(0).partitions().get(0).errorCode()))
                    .isEqualTo(ErrorCode.TOPIC_AUTHORIZATION_FAILED);
        }
    }

    /** Passes on a request of a user without rights, as another broker does. */
    private static ApiMessage passOn(NettyPeerChannels peer, ApiMessage request, int version) throws Exception {
        List<?> frame = Frames.request(UnpooledByteBufAllocator.DEFAULT, 1, "client", request, (short) version);
        List<ByteBuf> parts = new ArrayList<>();
        frame.forEach(part -> parts.add((ByteBuf) part));
        EnvelopeRequest envelope = new EnvelopeRequest()
                .setRequestData(
                        Unpooled.copiedBuffer(parts.toArray(ByteBuf[]::new)).skipBytes(Integer.BYTES))
                .setRequestPrincipal(Unpooled.copiedBuffer("User:eve", StandardCharsets.UTF_8))
                .setClientHostAddress(Unpooled.wrappedBuffer(new byte[] {127, 0, 0, 1}));
        for (ByteBuf part : parts) {
            part.release();
        }
        EnvelopeResponse response = (EnvelopeResponse)
                peer.send("127.0.0.1", PORTS.get(1), envelope, 0, 60_000).get(WAIT_SECONDS, TimeUnit.SECONDS);
        assertThat(ErrorCode.of(response.errorCode())).isEqualTo(ErrorCode.NONE);
        MessageReader in = new MessageReader(response.responseData());
        Frames.readResponseHeader(in, request.apiKey(), (short) version);
        return ApiMessages.readResponse(request.apiKey(), in, (short) version);
    }
}
