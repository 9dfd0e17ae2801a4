package io.journalq.client.membership;

import io.journalq.client.JournalQException;
import io.journalq.client.coordinator.Coordinator;
import io.journalq.client.coordinator.Question;
import io.journalq.client.error.Errors;
import io.journalq.client.error.MembershipLostException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * A consumer's commits, in order: one request at a time, and what is committed meanwhile goes with the next, the newest
 * offset of each partition. So a commit that has to be tried again never overtakes a later one. Belongs to the event loop,
 * except {@link #commit}.
 */
final class Commits {
    private static final int NEWEST_VERSION = 9;
    private static final int NO_MEMBER_EPOCH = -1;

    private final EventLoop eventLoop;
    private final Coordinator coordinator;
    private final GroupConfig config;
    private final Membership membership;
    private final long timeoutMs;
    private Batch pending = new Batch();
    private boolean inFlight;

    /** Offsets that go in one request, and who waits for which of them. */
    private static final class Batch {
        private final Map<TopicPartition, CommittedOffset> offsets = new LinkedHashMap<>();
        private final List<Waiter> waiters = new ArrayList<>();
    }

    private record Waiter(Set<TopicPartition> partitions, CompletableFuture<Void> done) {}

    /**
     * Nothing to commit yet.
     *
     * @param timeoutMs after which a request that fails is not tried again
     */
    Commits(EventLoop eventLoop, Coordinator coordinator, GroupConfig config, Membership membership, long timeoutMs) {
        this.eventLoop = eventLoop;
        this.coordinator = coordinator;
        this.config = config;
        this.membership = membership;
        this.timeoutMs = timeoutMs;
    }

    /** Commits offsets after all that were given before. Any thread; completes on the event loop. */
    CompletableFuture<Void> commit(Map<TopicPartition, CommittedOffset> offsets) {
        Map<TopicPartition, CommittedOffset> copy = Map.copyOf(offsets);
        CompletableFuture<Void> done = new CompletableFuture<>();
        if (copy.isEmpty()) {
            done.complete(null);
        } else {
            eventLoop.execute(() -> add(copy, done));
        }
        return done;
    }

    private void add(Map<TopicPartition, CommittedOffset> offsets, CompletableFuture<Void> done) {
        pending.offsets.putAll(offsets);
        pending.waiters.add(new Waiter(offsets.keySet(), done));
        sendNext();
    }

    private void sendNext() {
        if (inFlight || pending.waiters.isEmpty()) {
            return;
        }
        inFlight = true;
        Batch batch = pending;
        pending = new Batch();
        var unused = coordinator
                .ask(new CommitQuestion(batch.offsets), timeoutMs)
                .whenComplete((answer, failure) -> {
                    inFlight = false;
                    settle(batch, answer, failure);
                    sendNext();
                });
    }

    private void settle(Batch batch, OffsetCommitResponse answer, Throwable failure) {
        if (failure != null) {
            batch.waiters.forEach(waiter -> waiter.done.completeExceptionally(failure));
            return;
        }
        Map<TopicPartition, ErrorCode> errors = new HashMap<>();
        for (OffsetCommitResponse.OffsetCommitResponseTopic topic : answer.topics()) {
            for (OffsetCommitResponse.OffsetCommitResponsePartition partition : topic.partitions()) {
                ErrorCode error = ErrorCode.of(partition.errorCode());
                if (error != ErrorCode.NONE) {
                    errors.put(new TopicPartition(topic.name(), partition.partitionIndex()), error);
                }
            }
        }
        for (Waiter waiter : batch.waiters) {
            JournalQException refused = null;
            for (TopicPartition partition : waiter.partitions) {
                ErrorCode error = errors.get(partition);
                if (error != null && refused == null) {
                    refused = Errors.of(error, subject() + " for " + partition, null);
                }
            }
            if (refused == null) {
                waiter.done.complete(null);
            } else {
                waiter.done.completeExceptionally(refused);
            }
        }
    }

    private String subject() {
        return "commit of group " + config.groupId();
    }

    private final class CommitQuestion extends Question<OffsetCommitResponse> {
        private final Map<TopicPartition, CommittedOffset> offsets;

        private CommitQuestion(Map<TopicPartition, CommittedOffset> offsets) {
            super(ApiKey.OFFSET_COMMIT, OffsetCommitResponse.class, NEWEST_VERSION, subject());
            this.offsets = offsets;
        }

        @Override
        protected ApiMessage request(short version) {
            OffsetCommitRequest request = new OffsetCommitRequest().setGroupId(config.groupId());
            Standing standing = membership.standing();
            switch (standing.state()) {
                case OUT, FAILED -> request.setGenerationIdOrMemberEpoch(NO_MEMBER_EPOCH);
                case IN ->
                    request.setMemberId(standing.memberId())
                            .setGenerationIdOrMemberEpoch(standing.epoch())
                            .setGroupInstanceId(config.instanceId());
                case JOINING, LOST ->
                    throw new MembershipLostException(
                            subject() + ": this consumer is no member at the moment; poll to join the group",
                            ErrorCode.UNKNOWN_MEMBER_ID);
            }
            return request.setTopics(topics());
        }

        private List<OffsetCommitRequest.OffsetCommitRequestTopic> topics() {
            Map<String, List<OffsetCommitRequest.OffsetCommitRequestPartition>> topics = new LinkedHashMap<>();
            offsets.forEach((partition, offset) -> topics.computeIfAbsent(partition.topic(), name -> new ArrayList<>())
                    .add(new OffsetCommitRequest.OffsetCommitRequestPartition()
                            .setPartitionIndex(partition.partition())
                            .setCommittedOffset(offset.offset())
                            .setCommittedLeaderEpoch(offset.leaderEpoch())
                            .setCommittedMetadata(offset.metadata())));
            List<OffsetCommitRequest.OffsetCommitRequestTopic> all = new ArrayList<>();
            topics.forEach((name, partitions) -> all.add(new OffsetCommitRequest.OffsetCommitRequestTopic()
                    .setName(name)
                    .setPartitions(partitions)));
            return all;
        }

        /** The first error that may go away; what will stay is told to those who wait for the partition. */
        @Override
        protected ErrorCode errorOf(OffsetCommitResponse answer) {
            for (OffsetCommitResponse.OffsetCommitResponseTopic topic : answer.topics()) {
                for (OffsetCommitResponse.OffsetCommitResponsePartition partition : topic.partitions()) {
                    ErrorCode error = ErrorCode.of(partition.errorCode());
                    if (isRetriable(error)) {
                        return error;
                    }
                }
            }
            return ErrorCode.NONE;
        }

        @Override
        protected boolean isRetriable(ErrorCode error) {
            return switch (error) {
                // The topic was deleted.
                case UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID -> false;
                // The heartbeat that told the new epoch was answered before, on the same connection.
                case STALE_MEMBER_EPOCH -> membership.standing().isIn();
                default -> error.retriable();
            };
        }
    }
}
