package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A broker with 1,000,000 committed offsets of 1,000 groups, started again. */
class ManyCommittedOffsetsTest {
    private static final String TOPIC = "t";
    private static final int GROUPS = 1_000;
    private static final int OFFSETS_PER_GROUP = 1_000;
    private static final int FIND_COORDINATOR_VERSION = 4;
    private static final int COMMIT_VERSION = 9;
    private static final int FETCH_VERSION = 9;

    /** A multiple of what it takes: it is about time that grows with the square, not about a slow machine. */
    private static final Duration MAX_PROCESSOR_TIME = Duration.ofSeconds(30);

    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    private Path dataDirectory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory).start();
        broker.createTopic(TOPIC, OFFSETS_PER_GROUP, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldServeAllGroupsWithoutMuchWorkWhenItStartsWithAMillionCommittedOffsets() throws Exception {
        // given
        try (WireClient client = new WireClient(broker.port())) {
            findCoordinator(client);
            for (int group = 0; group < GROUPS; group++) {
                commit(client, group);
            }
        }
        // when
        long beforeNs = processorTimeNs();
        broker.stop();
        broker.start();
        try (WireClient client = new WireClient(broker.port())) {
            awaitAllServed(client);
            Duration taken = Duration.ofNanos(processorTimeNs() - beforeNs);
            // then
            assertThat(taken).isLessThan(MAX_PROCESSOR_TIME);
            for (int group = 0; group < GROUPS; group += 97) {
                assertThat(committed(client, group)).hasSize(OFFSETS_PER_GROUP).containsOnly("g" + group);
            }
        }
    }

    private static long processorTimeNs() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }

    /** Has the topic made that holds offsets. */
    static void findCoordinator(WireClient client) throws IOException {
        FindCoordinatorRequest request = new FindCoordinatorRequest().setCoordinatorKeys(List.of("group-0"));
        client.call(FindCoordinatorResponse.class, request, FIND_COORDINATOR_VERSION);
    }

    static void commit(WireClient client, int group) throws Exception {
        List<OffsetCommitRequest.OffsetCommitRequestPartition> partitions = IntStream.range(0, OFFSETS_PER_GROUP)
                .mapToObj(partition -> new OffsetCommitRequest.OffsetCommitRequestPartition()
                        .setPartitionIndex(partition)
                        .setCommittedOffset(0)
                        .setCommittedMetadata("g" + group))
                .toList();
        OffsetCommitRequest request = new OffsetCommitRequest()
                .setGroupId("group-" + group)
                .setGenerationIdOrMemberEpoch(-1)
                .setMemberId("")
                .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName(TOPIC)
                        .setPartitions(partitions)));
        await(() -> {
            OffsetCommitResponse answer = client.call(OffsetCommitResponse.class, request, COMMIT_VERSION);
            return answer.topics().get(0).partitions().stream().allMatch(one -> one.errorCode() == 0);
        });
    }

    static void awaitAllServed(WireClient client) throws Exception {
        List<OffsetFetchRequest.OffsetFetchRequestGroup> groups = IntStream.range(0, GROUPS)
                .mapToObj(group -> group(group, List.of(0)))
                .toList();
        await(
                () -> client
                        .call(OffsetFetchResponse.class, new OffsetFetchRequest().setGroups(groups), FETCH_VERSION)
                        .groups()
                        .stream()
                        .allMatch(group -> group.errorCode() == ErrorCode.NONE.code()));
    }

    private static OffsetFetchRequest.OffsetFetchRequestGroup group(int group, List<Integer> partitions) {
        return new OffsetFetchRequest.OffsetFetchRequestGroup()
                .setGroupId("group-" + group)
                .setMemberEpoch(-1)
                .setTopics(List.of(new OffsetFetchRequest.OffsetFetchRequestTopics()
                        .setName(TOPIC)
                        .setPartitionIndexes(partitions)));
    }

    /** The metadata of every offset that a group committed. */
    private static List<String> committed(WireClient client, int group) throws IOException {
        List<Integer> all = IntStream.range(0, OFFSETS_PER_GROUP).boxed().toList();
        OffsetFetchRequest request = new OffsetFetchRequest().setGroups(List.of(group(group, all)));
        return client
                .call(OffsetFetchResponse.class, request, FETCH_VERSION)
                .groups()
                .get(0)
                .topics()
                .get(0)
                .partitions()
                .stream()
                .map(partition -> partition.metadata())
                .toList();
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    private static void await(Condition condition) throws Exception {
        long deadlineNs = System.nanoTime() + LIMIT.toNanos();
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as("time is up").isLessThan(deadlineNs);
            Thread.sleep(10);
        }
    }
}
