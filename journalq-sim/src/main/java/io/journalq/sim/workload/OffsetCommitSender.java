package io.journalq.sim.workload;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.sim.world.SimBroker;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Sends offset commits, and records their results in the history. */
final class OffsetCommitSender {
    private static final int COMMIT_VERSION = 9;

    /** Errors with which a coordinator guarantees that the commit has no effect, now or later. */
    private static final Set<ErrorCode> REFUSALS = EnumSet.of(
            ErrorCode.UNKNOWN_MEMBER_ID,
            ErrorCode.ILLEGAL_GENERATION,
            ErrorCode.STALE_MEMBER_EPOCH,
            ErrorCode.FENCED_MEMBER_EPOCH,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            ErrorCode.REBALANCE_IN_PROGRESS,
            ErrorCode.GROUP_ID_NOT_FOUND);

    private OffsetCommitSender() {}

    /**
     * The member that commits.
     *
     * @param memberId empty for a client that is not a member
     * @param epoch generation or member epoch; -1 for a client that is not a member
     */
    record Member(String memberId, int epoch) {
        static final Member NONE = new Member("", -1);
    }

    /**
     * Sends a commit.
     *
     * @param onResponse called at the moment when the broker responds
     */
    static void send(
            World world,
            SimBroker.Connection connection,
            CommitHistory history,
            Member member,
            Position position,
            Consumer<ErrorCode> onResponse) {
        CommitHistory.Commit commit = history.add(position.offset(), world.nowMs());
        OffsetCommitRequest request = new OffsetCommitRequest()
                .setGroupId(history.group())
                .setMemberId(member.memberId())
                .setGenerationIdOrMemberEpoch(member.epoch())
                .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName(history.partition().topic())
                        .setPartitions(List.of(new OffsetCommitRequest.OffsetCommitRequestPartition()
                                .setPartitionIndex(history.partition().partition())
                                .setCommittedOffset(position.offset())
                                .setCommittedLeaderEpoch(position.leaderEpoch())))));
        connection.send(ApiKey.OFFSET_COMMIT, COMMIT_VERSION, request, message -> {
            ErrorCode error = message instanceof OffsetCommitResponse response
                    ? ErrorCode.of(response.topics().get(0).partitions().get(0).errorCode())
                    : ErrorCode.UNKNOWN_SERVER_ERROR;
            if (error == ErrorCode.NONE) {
                commit.acknowledge(world.nowMs());
            } else {
                commit.fail(REFUSALS.contains(error), world.nowMs());
            }
            onResponse.accept(error);
        });
    }

    /** The position of a reader, and the leader epoch of the last record that it has read; -1 if it is not known. */
    record Position(long offset, int leaderEpoch) {}
}
