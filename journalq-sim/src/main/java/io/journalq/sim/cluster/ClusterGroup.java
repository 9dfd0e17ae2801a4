package io.journalq.sim.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import java.util.List;

/** Commits rising offsets as a group, one at a time, to whichever broker coordinates the group. */
final class ClusterGroup {
    private static final int COMMIT_VERSION = 8;
    private static final int FETCH_VERSION = 7;
    private static final int RETRY_PAUSE_MS = 60;
    private static final int LONGEST_PAUSE_MS = 40;

    private final ClusterClient client;
    private final ClusterListener listener;
    private final ClusterPartition partition;
    private final String id;
    private final ClusterClient.Coordinator coordinator;
    private long last;
    private ErrorCode lastError = ErrorCode.NONE;
    private boolean reading;
    private boolean read;
    private boolean stopped;

    /** @param partition the one to which the offsets belong */
    ClusterGroup(ClusterClient client, ClusterListener listener, ClusterPartition partition, String id) {
        this.client = client;
        this.listener = listener;
        this.partition = partition;
        this.id = id;
        this.coordinator = client.coordinator(ClusterClient.Coordinators.GROUPS, id);
    }

    void start() {
        client.later(LONGEST_PAUSE_MS, this::act);
    }

    void stop() {
        stopped = true;
    }

    /** Reads the committed offset, after {@link #stop}. */
    void read() {
        stopped = false;
        reading = true;
        start();
    }

    /** Whether {@link #read} has ended. */
    boolean isRead() {
        return read;
    }

    /** The id, and the error of the last response. */
    @Override
    public String toString() {
        return id + ": " + lastError;
    }

    private void act() {
        coordinator.find(broker -> {
            if (stopped) {
                return;
            }
            if (broker == ClusterClient.UNKNOWN) {
                lastError = ErrorCode.COORDINATOR_NOT_AVAILABLE;
                retry();
            } else if (reading) {
                fetch(broker);
            } else {
                commit(broker);
            }
        });
    }

    private void retry() {
        coordinator.forget();
        client.later(RETRY_PAUSE_MS, this::act);
    }

    private void commit(int broker) {
        long offset = ++last;
        OffsetCommitRequest request = new OffsetCommitRequest()
                .setGroupId(id)
                .setMemberId("")
                .setGenerationIdOrMemberEpoch(-1)
                .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName(partition.topic())
                        .setPartitions(List.of(new OffsetCommitRequest.OffsetCommitRequestPartition()
                                .setPartitionIndex(partition.partition())
                                .setCommittedOffset(offset)
                                .setCommittedMetadata("")))));
        listener.onCommit(id, offset);
        client.send(
                broker,
                ApiKey.OFFSET_COMMIT,
                COMMIT_VERSION,
                request,
                message -> {
                    if (errorOf((OffsetCommitResponse) message) == ErrorCode.NONE) {
                        listener.onCommitted(id, offset);
                    }
                },
                message -> {
                    lastError = message instanceof OffsetCommitResponse response
                            ? errorOf(response)
                            : ErrorCode.NETWORK_EXCEPTION;
                    if (lastError == ErrorCode.NONE) {
                        client.later(LONGEST_PAUSE_MS, this::act);
                    } else {
                        retry();
                    }
                });
    }

    private static ErrorCode errorOf(OffsetCommitResponse response) {
        return ErrorCode.of(response.topics().get(0).partitions().get(0).errorCode());
    }

    private void fetch(int broker) {
        OffsetFetchRequest request = new OffsetFetchRequest()
                .setGroupId(id)
                .setRequireStable(true)
                .setTopics(List.of(new OffsetFetchRequest.OffsetFetchRequestTopic()
                        .setName(partition.topic())
                        .setPartitionIndexes(List.of(partition.partition()))));
        client.send(broker, ApiKey.OFFSET_FETCH, FETCH_VERSION, request, message -> {}, this::onFetched);
    }

    private void onFetched(ApiMessage message) {
        if (!(message instanceof OffsetFetchResponse response)) {
            retry();
            return;
        }
        lastError = ErrorCode.of(response.errorCode());
        if (lastError != ErrorCode.NONE) {
            retry();
            return;
        }
        OffsetFetchResponse.OffsetFetchResponsePartition found =
                response.topics().get(0).partitions().get(0);
        lastError = ErrorCode.of(found.errorCode());
        if (lastError != ErrorCode.NONE) {
            retry();
            return;
        }
        read = true;
        listener.onPosition(id, found.committedOffset());
    }
}
