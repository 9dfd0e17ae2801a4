package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreatePartitionsRequest;
import io.journalq.common.protocol.message.CreatePartitionsResponse;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.DeleteTopicsRequest;
import io.journalq.common.protocol.message.DeleteTopicsResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponseTopic;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When clients see a changed topic, and how long they wait for it, on a slow disk. */
class TopicChangesTest {
    private static final int CREATE_TOPICS = 7;
    private static final int CREATE_PARTITIONS = 3;
    private static final int DELETE_TOPICS = 5;
    private static final int METADATA = 9;
    private static final int PATIENT_MS = 60_000;
    private static final int IMPATIENT_MS = 1;

    @TempDir
    private Path directory;

    private final HeldDisk disk = new HeldDisk();
    private TestBroker broker;
    private WireClient administrator;
    private WireClient user;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory).start(disk.store());
        administrator = new WireClient(broker.port());
        user = new WireClient(broker.port());
    }

    @AfterEach
    void stop() throws IOException {
        disk.release();
        administrator.close();
        user.close();
        broker.close();
    }

    @Test
    void shouldShowATopicOnlyWhenItsPartitionsAreServed() throws Exception {
        // given a topic whose partition is slow to open
        disk.hold();
        int creation = administrator.send(creation("orders", PATIENT_MS), CREATE_TOPICS);
        disk.awaitReached();

        // then no client sees it
        assertThat(metadataError("orders")).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());

        // when it is open
        disk.release();

        // then it is served as soon as a client sees it
        broker.await(() -> metadataError("orders") == ErrorCode.NONE.code());
        assertThat(produce("orders", 0)).isEqualTo(ErrorCode.NONE.code());
        CreateTopicsResponse created =
                administrator.receive(CreateTopicsResponse.class, ApiKey.CREATE_TOPICS, CREATE_TOPICS, creation);
        assertThat(created.topics().get(0).errorCode()).isEqualTo(ErrorCode.NONE.code());
    }

    @Test
    void shouldListAllTopicsAsTheyAreWheneverSomebodyAsks() throws Exception {
        assertThat(allTopics(false)).isEmpty();

        broker.createTopic("orders", 2, Map.of());
        broker.createTopic("payments", 1, Map.of());
        assertThat(allTopics(false))
                .extracting(MetadataResponseTopic::name)
                .containsExactlyInAnyOrder("orders", "payments");

        // Operations are only included on request.
        assertThat(allTopics(true))
                .extracting(MetadataResponseTopic::topicAuthorizedOperations)
                .doesNotContain(Integer.MIN_VALUE);
        assertThat(allTopics(false))
                .extracting(MetadataResponseTopic::topicAuthorizedOperations)
                .containsOnly(Integer.MIN_VALUE);

        administrator.call(DeleteTopicsResponse.class, deletion("orders", PATIENT_MS), DELETE_TOPICS);
        assertThat(allTopics(false)).extracting(MetadataResponseTopic::name).containsExactly("payments");
    }

    private List<MetadataResponseTopic> allTopics(boolean operations) throws IOException {
        MetadataRequest request = new MetadataRequest().setTopics(null).setIncludeTopicAuthorizedOperations(operations);
        return user.call(MetadataResponse.class, request, METADATA).topics();
    }

    @Test
    void shouldKeepTopicsWhenTheyCannotBeDeleted() throws Exception {
        broker.createTopic("orders", 1, Map.of());
        broker.stop();
        broker.with("delete.topic.enable", "false").start();

        try (WireClient client = new WireClient(broker.port())) {
            for (int version = 1; version <= DELETE_TOPICS; version++) {
                DeleteTopicsResponse refused =
                        client.call(DeleteTopicsResponse.class, deletion("orders", IMPATIENT_MS), version);
                ErrorCode expected = version < 3 ? ErrorCode.INVALID_REQUEST : ErrorCode.TOPIC_DELETION_DISABLED;
                assertThat(refused.responses().get(0).errorCode()).isEqualTo(expected.code());
            }
            assertThat(client.call(
                                    MetadataResponse.class,
                                    new MetadataRequest()
                                            .setTopics(List.of(
                                                    new MetadataRequest.MetadataRequestTopic().setName("orders"))),
                                    METADATA)
                            .topics()
                            .get(0)
                            .errorCode())
                    .isEqualTo(ErrorCode.NONE.code());
        }
    }

    @Test
    void shouldRespondWithATimeoutAndContinueWhenAChangeTakesLongerThanItsClientWaits() throws Exception {
        // given a broker whose disk delays every change
        broker.createTopic("orders", 1, Map.of());
        disk.hold();

        // when clients with short timeouts request changes
        CreateTopicsResponse created =
                administrator.call(CreateTopicsResponse.class, creation("bills", IMPATIENT_MS), CREATE_TOPICS);
        CreatePartitionsResponse grown =
                administrator.call(CreatePartitionsResponse.class, growth("bills", 2), CREATE_PARTITIONS);
        DeleteTopicsResponse deleted =
                administrator.call(DeleteTopicsResponse.class, deletion("orders", IMPATIENT_MS), DELETE_TOPICS);

        // then they get REQUEST_TIMED_OUT
        short timedOut = ErrorCode.REQUEST_TIMED_OUT.code();
        assertThat(created.topics().get(0).errorCode()).isEqualTo(timedOut);
        assertThat(grown.results().get(0).errorCode()).isEqualTo(timedOut);
        assertThat(deleted.responses().get(0).errorCode()).isEqualTo(timedOut);

        // and all changes are made once the disk continues
        disk.release();
        broker.await(() -> metadataError("orders") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
        assertThat(produce("bills", 0)).isEqualTo(ErrorCode.NONE.code());
        assertThat(produce("bills", 1)).isEqualTo(ErrorCode.NONE.code());
    }

    private static CreateTopicsRequest creation(String topic, int timeoutMs) {
        return new CreateTopicsRequest()
                .setTimeoutMs(timeoutMs)
                .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                        .setName(topic)
                        .setNumPartitions(1)
                        .setReplicationFactor((short) 1)));
    }

    private static CreatePartitionsRequest growth(String topic, int count) {
        return new CreatePartitionsRequest()
                .setTimeoutMs(IMPATIENT_MS)
                .setTopics(List.of(new CreatePartitionsRequest.CreatePartitionsTopic()
                        .setName(topic)
                        .setCount(count)
                        .setAssignments(null)));
    }

    private static DeleteTopicsRequest deletion(String topic, int timeoutMs) {
        return new DeleteTopicsRequest().setTimeoutMs(timeoutMs).setTopicNames(List.of(topic));
    }

    private short metadataError(String topic) {
        MetadataRequest request = new MetadataRequest()
                .setAllowAutoTopicCreation(false)
                .setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName(topic)));
        try {
            return user.call(MetadataResponse.class, request, METADATA)
                    .topics()
                    .get(0)
                    .errorCode();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private short produce(String topic, int partition) throws IOException {
        return user.produce(topic, partition, WireClient.batch(1, new byte[10])).errorCode();
    }
}
