package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.server.memory.StatePart;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Holds what the budget charges against what the live heap of a real broker grows by: the estimates are right within a
 * factor of {@value #FACTOR}, or the bounds mean nothing.
 */
class MemoryEstimatesTest {
    private static final double FACTOR = 1.5;

    @TempDir
    private Path folder;

    private TestBroker broker;
    private WireClient client;

    private interface Growth {
        void grow() throws Exception;
    }

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(folder)
                .with("group.initial.rebalance.delay.ms", "0")
                .with("offsets.topic.num.partitions", "1")
                .start();
        client = new WireClient(broker.port());
        TopicCostRun.createTopics(client, "warm-up-", 50);
        client.call(FindCoordinatorResponse.class, new FindCoordinatorRequest().setKey("g"), 2);
        while (commit("warm-up", 1, "") != ErrorCode.NONE) {
            Thread.sleep(10);
        }
    }

    @AfterEach
    void stop() throws Exception {
        client.close();
        broker.close();
    }

    private void assertEstimate(StatePart part, Growth growth) throws Exception {
        long heapBefore = HeapUse.liveBytes();
        long chargedBefore = broker.memory().part(part).usedBytes();
        growth.grow();
        long charged = broker.memory().part(part).usedBytes() - chargedBefore;
        long heap = HeapUse.liveBytes() - heapBefore;

        assertThat((double) charged / heap)
                .as("%s: %d bytes charged for %d bytes of heap", part, charged, heap)
                .isBetween(1 / FACTOR, FACTOR);
    }

    @Test
    void shouldEstimateTopicsWhenTheyHaveOnePartition() throws Exception {
        assertEstimate(StatePart.METADATA, () -> TopicCostRun.createTopics(client, "topic-", 3_000));
    }

    @Test
    void shouldEstimateMembersWhenTheySayLittle() throws Exception {
        assertEstimate(StatePart.GROUPS, () -> join(3_000, 100));
    }

    @Test
    void shouldEstimateMembersWhenTheySayMuch() throws Exception {
        assertEstimate(StatePart.GROUPS, () -> join(20, 500_000));
    }

    @Test
    void shouldEstimateOffsetsWhenGroupsHaveFew() throws Exception {
        assertEstimate(StatePart.OFFSETS, () -> {
            for (int i = 0; i < 5_000; i++) {
                commit("few-" + i, 1, "");
            }
        });
    }

    @Test
    void shouldEstimateOffsetsWhenGroupsHaveManyWithTexts() throws Exception {
        assertEstimate(StatePart.OFFSETS, () -> {
            for (int i = 0; i < 50; i++) {
                commit("many-" + i, 200, "text " + i);
            }
        });
    }

    private void join(int groups, int sizeBytes) throws Exception {
        for (int i = 0; i < groups; i++) {
            client.send(
                    new JoinGroupRequest()
                            .setGroupId("joined-" + i)
                            .setSessionTimeoutMs(300_000)
                            .setRebalanceTimeoutMs(300_000)
                            .setProtocolType("consumer")
                            .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                    .setName("range")
                                    .setMetadata(Unpooled.wrappedBuffer(new byte[sizeBytes])))),
                    3);
            client.receiveFrame();
        }
    }

    private ErrorCode commit(String group, int partitions, String metadata) throws Exception {
        OffsetCommitRequest request = new OffsetCommitRequest()
                .setGroupId(group)
                .setGenerationIdOrMemberEpoch(-1)
                .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName("warm-up-0")
                        .setPartitions(IntStream.range(0, partitions)
                                .mapToObj(i -> new OffsetCommitRequest.OffsetCommitRequestPartition()
                                        .setPartitionIndex(i)
                                        .setCommittedMetadata(metadata))
                                .toList())));
        OffsetCommitResponse response = client.call(OffsetCommitResponse.class, request, 7);
        return ErrorCode.of(response.topics().get(0).partitions().get(0).errorCode());
    }
}
