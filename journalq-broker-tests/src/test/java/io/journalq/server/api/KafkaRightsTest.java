package io.journalq.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares the errors about rights with those of a Kafka broker: each API that asks for rights, in its lowest and highest
 * version, for a stranger, a user without rights, with each right alone, with everything but each right, with prefixes,
 * hosts, and for a super user.
 */
@Timeout(600)
class KafkaRightsTest {
    private static final Path RECORDED = Path.of("src", "test", "resources", "kafka-4.3-rights.txt");
    private static final String RECORD = "mvn -Pquick,long -pl journalq-broker-tests -am test -Dtest=KafkaRightsTest"
            + " -Djournalq.rewrite=true -Dsurefire.failIfNoSpecifiedTests=false";
    private static final String HEADING = "# The errors about rights of a Kafka broker, version 4.3.1, with"
            + " StandardAuthorizer.\n# Recorded by KafkaRightsTest with -Djournalq.rewrite=true. Do not edit.\n";

    /**
     * APIs that only the controllers of Kafka serve, on a listener of their own, and the one that Kafka does not have.
     * {@link AccessMatrixTest} has them.
     */
    private static final Set<ApiKey> OF_CONTROLLERS = EnumSet.of(
            ApiKey.ALLOCATE_PRODUCER_IDS,
            ApiKey.ALTER_PARTITION,
            ApiKey.ASSIGN_REPLICAS_TO_DIRS,
            ApiKey.BROKER_HEARTBEAT,
            ApiKey.BROKER_REGISTRATION,
            ApiKey.ENVELOPE,
            ApiKey.READ_REPLICA);

    /** Where the errors differ, and why that is right. */
    private static final Map<String, String> DIFFERENCES = differences();

    private static Map<String, String> differences() {
        Map<String, String> reasons = new TreeMap<>();
        for (String version : List.of("v2", "v4")) {
            reasons.put(
                    "OFFSET_FOR_LEADER_EPOCH " + version + ": - is TOPIC_AUTHORIZATION_FAILED for allow:CLUSTER:ALL"
                            + " allow:CLUSTER:CLUSTER_ACTION deny:TOPIC:ALL deny:TOPIC:DESCRIBE",
                    "CLUSTER_ACTION is for requests of brokers only. Kafka also lets consumers use it.");
        }
        return reasons;
    }

    private static Map<ApiKey, Set<Integer>> served(HandlerRegistry handlers) {
        Map<ApiKey, Set<Integer>> versions = new EnumMap<>(ApiKey.class);
        handlers.all().stream()
                .map(HandlerRegistry.Served::api)
                .filter(api -> !api.access().isOpen())
                .forEach(api -> versions.put(api.key(), RightsMatrix.ends(api.lowestVersion(), api.highestVersion())));
        return versions;
    }

    private static Uuid createTopic(RightsMatrix.Broker broker) throws Exception {
        CreateTopicsResponse created = (CreateTopicsResponse) broker.ask(
                "root",
                "127.0.0.1",
                new CreateTopicsRequest()
                        .setTimeoutMs(10_000)
                        .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                                .setName("t")
                                .setNumPartitions(1)
                                .setReplicationFactor((short) 1))),
                7);
        assertThat(created.topics().get(0).errorCode()).isZero();
        Uuid topicId = created.topics().get(0).topicId();
        awaitTopic(broker, topicId);
        return topicId;
    }

    /** Waits until a broker knows a topic. Its controller may know it first. */
    private static void awaitTopic(RightsMatrix.Broker broker, Uuid topicId) throws Exception {
        MetadataRequest byId = new MetadataRequest()
                .setTopics(List.of(new MetadataRequest.MetadataRequestTopic()
                        .setTopicId(topicId)
                        .setName(null)));
        short error;
        do {
            MetadataResponse known = (MetadataResponse) broker.ask("root", "127.0.0.1", byId, 12);
            error = known.topics().get(0).errorCode();
        } while (error == ErrorCode.UNKNOWN_TOPIC_ID.code());
        assertThat(error).isZero();
    }

    private static LocalBroker startLocal() throws Exception {
        return new LocalBroker(Map.of("authorization.enabled", "true", "super.users", "User:root"));
    }

    /** A JournalQ broker whose clients are kept, as those of a real one. */
    private record Local(LocalBroker broker, Map<String, LocalBroker.User> users) implements RightsMatrix.Broker {
        @Override
        public ApiMessage ask(String user, String host, ApiMessage request, int version) throws Exception {
            ApiMessage response = users.computeIfAbsent(user + "@" + host, first -> broker.user(user, host))
                    .call(ApiMessage.class, request, version);
            return request.apiKey() == ApiKey.FETCH ? response : asReceived(response, (short) version);
        }

        /** Without the fields that the version does not have. */
        private static ApiMessage asReceived(ApiMessage response, short version) {
            List<ReferenceCounted> parts = Frames.response(UnpooledByteBufAllocator.DEFAULT, 0, response, version);
            ByteBuf frame =
                    Unpooled.wrappedBuffer(parts.toArray(new ByteBuf[0])).skipBytes(Integer.BYTES);
            try {
                MessageReader reader = new MessageReader(frame);
                Frames.readResponseHeader(reader, response.apiKey(), version);
                return ApiMessages.readResponse(response.apiKey(), reader, version);
            } finally {
                frame.release();
            }
        }

        @Override
        public void awaitAcls(int count) {
            // They apply when the response arrives.
        }
    }

    @Test
    void shouldRespondWithTheErrorsOfKafka() throws Exception {
        // given
        Map<String, Map<String, String>> recorded = RightsMatrix.parse(Files.readString(RECORDED));

        // when
        Map<String, Map<String, String>> asked;
        try (LocalBroker broker = startLocal()) {
            Local local = new Local(broker, new HashMap<>());
            Uuid topicId = createTopic(local);
            for (byte type = 0; type <= 1; type++) { // Creates the topics of the coordinators.
                local.broker()
                        .user("root", "127.0.0.1")
                        .call(
                                FindCoordinatorResponse.class,
                                new FindCoordinatorRequest().setKey("x").setKeyType(type),
                                1);
            }
            Map<ApiKey, Set<Integer>> versions = served(broker.handlers());
            versions.keySet().removeAll(OF_CONTROLLERS);
            asked = RightsMatrix.ask(local, versions, RightsRequests.byApi(topicId));
        }

        // then
        assertThat(RightsMatrix.differences(recorded, asked))
                .as("errors that differ from those of Kafka; to record them again, for example for a new API: "
                        + RECORD)
                .containsExactlyInAnyOrderElementsOf(DIFFERENCES.keySet());
    }

    @Test
    @Tag("long")
    void shouldFindTheRecordedErrorsInKafka(@TempDir Path directory) throws Exception {
        Map<ApiKey, Set<Integer>> versions = new EnumMap<>(ApiKey.class);
        Map<String, Map<String, String>> asked;
        try (LocalBroker local = startLocal();
                KafkaBroker kafka = new KafkaBroker(directory)) {
            Map<Integer, int[]> known = kafka.versions();
            served(local.handlers()).forEach((key, ours) -> {
                int[] theirs = known.get((int) key.id());
                if (!OF_CONTROLLERS.contains(key)) {
                    assertThat(theirs).as("%s in Kafka", key).isNotNull();
                    assertThat(ours)
                            .as("versions of %s", key)
                            .allMatch(version -> version >= theirs[0] && version <= theirs[1]);
                    versions.put(key, ours);
                }
            });
            asked = RightsMatrix.ask(kafka, versions, RightsRequests.byApi(createTopic(kafka)));
        }
        String text = HEADING + RightsMatrix.render(asked);
        if (Boolean.getBoolean("journalq.rewrite")) {
            Files.writeString(RECORDED, text);
        }

        assertThat(Files.readString(RECORDED)).isEqualTo(text);
    }
}
