package io.journalq.sim.workload;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.sim.world.SimBroker;
import java.util.List;

/** Commits a consumer's position now and then, one commit at a time, and asks for it after a restart. */
public final class Committer {
    /** What {@link #committed} is before the broker has said it. */
    public static final long UNKNOWN = Long.MIN_VALUE;

    private static final int LONGEST_PAUSE_MS = 60;
    private static final int FIND_VERSION = 4;
    private static final int COMMIT_VERSION = 9;
    private static final int FETCH_VERSION = 8;
    private static final int RETRY_PAUSE_MS = 100;
    private static final int MOST_TRIES = 100;

    private final World world;
    private final Consumer consumer;
    private final CommitHistory history;
    private SimBroker.Connection connection;
    private long committed = UNKNOWN;
    private int tries;

    public Committer(World world, String group, Consumer consumer) {
        this.world = world;
        this.consumer = consumer;
        this.history = new CommitHistory(group, consumer.partition());
    }

    public CommitHistory history() {
        return history;
    }

    /** The broker lives again. */
    public void onStart() {
        connection = world.broker().connect();
        connection.send(
                ApiKey.FIND_COORDINATOR,
                FIND_VERSION,
                new FindCoordinatorRequest().setCoordinatorKeys(List.of(history.group())),
                answer -> world.deliver(this::pause));
    }

    private void pause() {
        world.later(LONGEST_PAUSE_MS, this::commit);
    }

    private void commit() {
        long offset = consumer.position();
        CommitHistory.Commit commit = history.add(offset);
        OffsetCommitRequest request = new OffsetCommitRequest()
                .setGroupId(history.group())
                .setGenerationIdOrMemberEpoch(-1)
                .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName(history.partition().topic())
                        .setPartitions(List.of(new OffsetCommitRequest.OffsetCommitRequestPartition()
                                .setPartitionIndex(history.partition().partition())
                                .setCommittedOffset(offset)
                                .setCommittedLeaderEpoch(consumer.leaderEpoch())))));
        connection.send(ApiKey.OFFSET_COMMIT, COMMIT_VERSION, request, answer -> {
            if (answer instanceof OffsetCommitResponse response
                    && response.topics().get(0).partitions().get(0).errorCode() == 0) {
                commit.acknowledge(world.nowMs());
            }
            world.deliver(this::pause);
        });
    }

    /** Asks what is committed; {@link #committed} holds the answer. */
    public void ask() {
        committed = UNKNOWN;
        tries = 0;
        ask(world.broker().connect());
    }

    private void ask(SimBroker.Connection from) {
        OffsetFetchRequest request = new OffsetFetchRequest()
                .setGroups(List.of(new OffsetFetchRequest.OffsetFetchRequestGroup()
                        .setGroupId(history.group())
                        .setTopics(List.of(new OffsetFetchRequest.OffsetFetchRequestTopics()
                                .setName(history.partition().topic())
                                .setPartitionIndexes(List.of(history.partition().partition()))))));
        from.send(ApiKey.OFFSET_FETCH, FETCH_VERSION, request, answer -> {
            OffsetFetchResponse.OffsetFetchResponseGroup group =
                    ((OffsetFetchResponse) answer).groups().get(0);
            ErrorCode error = ErrorCode.of(group.errorCode());
            if (error == ErrorCode.NONE) {
                committed = group.topics().get(0).partitions().get(0).committedOffset();
            } else if (error == ErrorCode.COORDINATOR_NOT_AVAILABLE && !history.isAnyAcknowledged()) {
                committed = -1; // no group was ever there
            } else if (tries++ < MOST_TRIES) {
                world.later(RETRY_PAUSE_MS, () -> ask(from));
            } else {
                if (!world.isHarmed()) {
                    world.report("GroupsAreServed", history.group() + " is told " + error + " again and again");
                }
                committed = -1;
            }
        });
    }

    /** The committed offset; -1 when there is none, {@link #UNKNOWN} before the broker has said it. */
    public long committed() {
        return committed;
    }
}
