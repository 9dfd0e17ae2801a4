package io.journalq.server.broker;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitRequest.OffsetCommitRequestPartition;
import io.journalq.common.protocol.message.OffsetCommitRequest.OffsetCommitRequestTopic;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A broker in a separate process to which very many offsets are committed over the wire, and which is then stopped. In
 * the process of the tests, leak detection of every buffer would make this take minutes.
 */
final class CommitProcess {
    private static final int CREATE_VERSION = 7;
    private static final int COMMIT_VERSION = 9;
    private static final int TIMEOUT_MS = 60_000;

    /** Maximum number of concurrent commits. */
    private static final int COMMITS_IN_FLIGHT = 16;

    private CommitProcess() {}

    /**
     * Arguments: the data directory, the name of the topic to create, the number of groups that commit ({@code group-0}
     * and so on), and the number of partitions of each. The leader epoch of each offset is the number of its group.
     */
    public static void main(String[] arguments) throws Exception {
        String topic = arguments[1];
        int groups = Integer.parseInt(arguments[2]);
        int partitions = Integer.parseInt(arguments[3]);
        try (Broker broker = Broker.start(BrokerProcess.config(arguments[0]));
                WireClient client = new WireClient(broker.listeners().get(0).port())) {
            create(client, topic, partitions);
            BrokerProcess.awaitLoaded(client, groups);
            commitAll(client, topic, groups, partitions);
        }
    }

    private static void create(WireClient client, String topic, int partitions) throws IOException {
        short error = client.call(
                        CreateTopicsResponse.class,
                        new CreateTopicsRequest()
                                .setTimeoutMs(TIMEOUT_MS)
                                .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                                        .setName(topic)
                                        .setNumPartitions(partitions)
                                        .setReplicationFactor((short) 1))),
                        CREATE_VERSION)
                .topics()
                .get(0)
                .errorCode();
        if (error != 0) {
            throw new AssertionError("cannot create the topic: error " + error);
        }
    }

    private static void commitAll(WireClient client, String topic, int groups, int partitions) throws IOException {
        ArrayDeque<Integer> sent = new ArrayDeque<>();
        for (int group = 0; group < groups; group++) {
            if (sent.size() == COMMITS_IN_FLIGHT) {
                expectCommitted(client, sent.remove(), partitions);
            }
            sent.add(client.send(commit(topic, group, partitions), COMMIT_VERSION));
        }
        while (!sent.isEmpty()) {
            expectCommitted(client, sent.remove(), partitions);
        }
    }

    private static void expectCommitted(WireClient client, int correlationId, int partitions) throws IOException {
        OffsetCommitResponse response =
                client.receive(OffsetCommitResponse.class, ApiKey.OFFSET_COMMIT, COMMIT_VERSION, correlationId);
        long committed = response.topics().get(0).partitions().stream()
                .filter(partition -> partition.errorCode() == 0)
                .count();
        if (committed != partitions) {
            throw new AssertionError(committed + " of " + partitions + " offsets are committed");
        }
    }

    /** Most clients commit only the leader epoch with an offset. */
    private static OffsetCommitRequest commit(String topic, int group, int partitions) {
        List<OffsetCommitRequestPartition> offsets = IntStream.range(0, partitions)
                .mapToObj(partition -> new OffsetCommitRequestPartition()
                        .setPartitionIndex(partition)
                        .setCommittedOffset(0)
                        .setCommittedLeaderEpoch(group)
                        .setCommittedMetadata(""))
                .toList();
        return new OffsetCommitRequest()
                .setGroupId("group-" + group)
                .setGenerationIdOrMemberEpoch(-1)
                .setMemberId("")
                .setTopics(List.of(new OffsetCommitRequestTopic().setName(topic).setPartitions(offsets)));
    }
}
