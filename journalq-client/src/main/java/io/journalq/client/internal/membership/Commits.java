package io.journalq.client.internal.membership;

import io.journalq.client.error.JournalQException;
import io.journalq.client.error.MembershipLostException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.internal.coordinator.Coordinator;
import io.journalq.client.internal.coordinator.CoordinatorRequest;
import io.journalq.client.internal.network.Cluster;
import io.journalq.client.internal.network.Errors;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Sends the commits of a consumer in order. One request at a time is in flight; the offsets that are committed in the
 * meantime go into the next one, the newest offset of each partition. So a retried commit never overtakes a later one. Nor
 * does it outlive the membership in which it began: another member may have read on meanwhile. Belongs to the event loop,
 * except {@link #commit}.
 */
final class Commits {
    private static final int NEWEST_VERSION = 10;
    private static final int NEWEST_VERSION_BY_NAME = 9;
    private static final int NO_MEMBER_EPOCH = -1;

    private final Cluster cluster;
    private final Coordinator coordinator;
    private final GroupConfig config;
    private final Membership membership;
    private final long timeoutMs;
    private Batch pending;
    private boolean inFlight;

    /** The offsets of one request, and the futures that wait for them. */
    private static final class Batch {
        private final Map<TopicPartition, CommittedOffset> offsets = new LinkedHashMap<>();
        /** The topics of these partitions, as far as they are known. */
        private final Map<TopicPartition, Uuid> topicIds = new HashMap<>();

        private final List<Waiter> waiters = new ArrayList<>();
        private final int term;

        private Batch(int term) {
            this.term = term;
        }

        private void fail(Throwable failure) {
            waiters.forEach(waiter -> waiter.done.completeExceptionally(failure));
        }
    }

    private record Topic(String name, Uuid id) {}

    private record Waiter(Set<TopicPartition> partitions, CompletableFuture<Void> done) {}

    /**
     * Creates a queue without commits.
     *
     * @param timeoutMs the time after which a failed request is not retried, in milliseconds
     */
    Commits(Cluster cluster, Coordinator coordinator, GroupConfig config, Membership membership, long timeoutMs) {
        this.cluster = cluster;
        this.coordinator = coordinator;
        this.config = config;
        this.membership = membership;
        this.timeoutMs = timeoutMs;
        this.pending = new Batch(membership.term());
    }

    /**
     * Commits offsets after all previous ones, which have ended when the future completes: a partition must not be given
     * up before. Any thread. The future completes on the event loop.
     *
     * @param offsets may be empty
     * @param topicIds the ids of the topics of assigned partitions: an offset of a deleted topic must not become one of
     *     a new topic with the same name
     */
    CompletableFuture<Void> commit(Map<TopicPartition, CommittedOffset> offsets, Map<TopicPartition, Uuid> topicIds) {
        Map<TopicPartition, CommittedOffset> copy = Map.copyOf(offsets);
        Map<TopicPartition, Uuid> ids = Map.copyOf(topicIds);
        CompletableFuture<Void> done = new CompletableFuture<>();
        cluster.execute(() -> add(copy, ids, done));
        return done;
    }

    private void add(
            Map<TopicPartition, CommittedOffset> offsets,
            Map<TopicPartition, Uuid> topicIds,
            CompletableFuture<Void> done) {
        if (pending.term != membership.term()) {
            pending.fail(lost());
            pending = new Batch(membership.term());
        }
        pending.offsets.putAll(offsets);
        offsets.keySet()
                .forEach(partition -> pending.topicIds.put(partition, topicIds.getOrDefault(partition, Uuid.ZERO)));
        pending.waiters.add(new Waiter(offsets.keySet(), done));
        sendNext();
    }

    private void sendNext() {
        if (inFlight || pending.waiters.isEmpty()) {
            return;
        }
        Batch batch = pending;
        pending = new Batch(membership.term());
        if (batch.offsets.isEmpty()) {
            batch.waiters.forEach(waiter -> waiter.done.complete(null));
            return;
        }
        inFlight = true;
        var unused = coordinator.ask(new CommitRequest(batch), timeoutMs).whenComplete((response, failure) -> {
            inFlight = false;
            settle(batch, response, failure);
            sendNext();
        });
    }

    private void settle(Batch batch, OffsetCommitResponse response, Throwable failure) {
        if (failure != null) {
            batch.fail(failure);
            return;
        }
        Map<TopicPartition, ErrorCode> errors = new HashMap<>();
        Map<Uuid, String> names = new HashMap<>();
        batch.topicIds.forEach((partition, id) -> names.put(id, partition.topic()));
        for (OffsetCommitResponse.OffsetCommitResponseTopic topic : response.topics()) {
            String name = topic.topicId().equals(Uuid.ZERO) ? topic.name() : names.get(topic.topicId());
            for (OffsetCommitResponse.OffsetCommitResponsePartition partition : topic.partitions()) {
                ErrorCode error = ErrorCode.of(partition.errorCode());
                if (error != ErrorCode.NONE) {
                    errors.put(new TopicPartition(name, partition.partitionIndex()), error);
                }
            }
        }
        Map<TopicPartition, CommittedOffset> stored = batch.offsets;
        if (!errors.isEmpty()) {
            stored = new LinkedHashMap<>(batch.offsets);
            stored.keySet().removeAll(errors.keySet());
        }
        if (!stored.isEmpty()) {
            config.onCommitted().accept(Collections.unmodifiableMap(stored));
        }
        for (Waiter waiter : batch.waiters) {
            JournalQException refused = null;
            for (TopicPartition partition : waiter.partitions) {
                ErrorCode error = errors.get(partition);
                if (error != null && refused == null) {
                    refused = Errors.of(error, subject() + " for " + partition, null);
                    coordinator.reportIfRefused(refused);
                }
            }
            if (refused == null) {
                waiter.done.complete(null);
            } else {
                waiter.done.completeExceptionally(refused);
            }
        }
    }

    private MembershipLostException lost() {
        return new MembershipLostException(
                subject() + ": this consumer is no longer the member of the group that read these records, or not yet a"
                        + " member; poll to join it",
                ErrorCode.UNKNOWN_MEMBER_ID);
    }

    private String subject() {
        return "commit of group " + config.groupId();
    }

    private final class CommitRequest extends CoordinatorRequest<OffsetCommitResponse> {
        private final Batch batch;

        /** A request identifies all topics in the same way, so by name if the id of one of them is unknown. */
        private CommitRequest(Batch batch) {
            super(
                    ApiKey.OFFSET_COMMIT,
                    OffsetCommitResponse.class,
                    batch.topicIds.containsValue(Uuid.ZERO) ? NEWEST_VERSION_BY_NAME : NEWEST_VERSION,
                    subject());
            this.batch = batch;
        }

        @Override
        protected ApiMessage request(short version) {
            if (batch.term != membership.term()) {
                throw lost();
            }
            OffsetCommitRequest request = new OffsetCommitRequest().setGroupId(config.groupId());
            MembershipState status = membership.status();
            switch (status.state()) {
                case OUT, FAILED -> request.setGenerationIdOrMemberEpoch(NO_MEMBER_EPOCH);
                case IN ->
                    request.setMemberId(status.memberId())
                            .setGenerationIdOrMemberEpoch(status.epoch())
                            .setGroupInstanceId(config.instanceId());
                case JOINING, LOST -> throw lost();
            }
            return request.setTopics(topics());
        }

        private List<OffsetCommitRequest.OffsetCommitRequestTopic> topics() {
            Map<Topic, List<OffsetCommitRequest.OffsetCommitRequestPartition>> topics = new LinkedHashMap<>();
            batch.offsets.forEach((partition, offset) -> topics.computeIfAbsent(
                            new Topic(partition.topic(), batch.topicIds.get(partition)), topic -> new ArrayList<>())
                    .add(new OffsetCommitRequest.OffsetCommitRequestPartition()
                            .setPartitionIndex(partition.partition())
                            .setCommittedOffset(offset.offset())
                            .setCommittedLeaderEpoch(offset.leaderEpoch())
                            .setCommittedMetadata(offset.metadata())));
            List<OffsetCommitRequest.OffsetCommitRequestTopic> all = new ArrayList<>();
            topics.forEach((topic, partitions) -> all.add(new OffsetCommitRequest.OffsetCommitRequestTopic()
                    .setName(topic.name)
                    .setTopicId(topic.id)
                    .setPartitions(partitions)));
            return all;
        }

        /** Returns the first retriable error. Other errors fail only the futures of their partitions. */
        @Override
        protected ErrorCode errorOf(OffsetCommitResponse response) {
            for (OffsetCommitResponse.OffsetCommitResponseTopic topic : response.topics()) {
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
                // The topic has been deleted.
                case UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID -> false;
                // The heartbeat response with the new epoch has already arrived, on the same connection.
                case STALE_MEMBER_EPOCH -> membership.status().isIn();
                default -> error.retriable();
            };
        }
    }
}
