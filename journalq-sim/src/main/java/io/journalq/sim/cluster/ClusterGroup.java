package io.journalq.sim.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import java.util.List;

/** Commits rising offsets as a group, one at a time, to whichever broker coordinates the group. */
final class ClusterGroup {
    private static final int FIND_VERSION = 4;
    private static final int COMMIT_VERSION = 8;
    private static final int FETCH_VERSION = 7;
    private static final byte GROUP = 0;
    private static final int RETRY_PAUSE_MS = 60;
    private static final int LONGEST_PAUSE_MS = 40;

    private final ClusterClient client;
    private final ClusterListener listener;
    private final ClusterPartition partition;
    private final String id;
    private int coordinator = ClusterClient.UNKNOWN;
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
        if (stopped) {
            return;
        }
        if (coordinator == ClusterClient.UNKNOWN) {
            find();
        } else if (reading) {
            fetch();
        } else {
            commit();
        }
    }

    private void retry() {
        coordinator = ClusterClient.UNKNOWN;
        client.later(RETRY_PAUSE_MS, this::act);
    }

    private void find() {
        FindCoordinatorRequest request =
                new FindCoordinatorRequest().setKeyType(GROUP).setCoordinatorKeys(List.of(id));
        client.send(client.anyBroker(), ApiKey.FIND_COORDINATOR, FIND_VERSION, request, message -> {}, message -> {
            if (message instanceof FindCoordinatorResponse response) {
                FindCoordinatorResponse.Coordinator found =
                        response.coordinators().get(0);
                lastError = ErrorCode.of(found.errorCode());
                if (lastError == ErrorCode.NONE) {
                    coordinator = found.nodeId();
                    act();
                    return;
                }
            }
            retry();
        });
    }

    private void commit() {
        long offset = ++last;
        OffsetCommitRequest request = new OffsetCommitRequest()
                .setGroupId(id)
                .setMemberId("")
                .setGenerationIdOrMemberEpoch(-1)
                .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName(partition.topic())
                        .setPartitions(List.of(new OffsetCommitRequest.OffsetCommitRequestPartition()
                                .setPartitionIndex(partition.number())
                                .setCommittedOffset(offset)
                                .setCommittedMetadata("")))));
        client.send(
                coordinator,
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
                        listener.onCommitUnknown(id, offset);
                        retry();
                    }
                });
    }

    private static ErrorCode errorOf(OffsetCommitResponse response) {
        return ErrorCode.of(response.topics().get(0).partitions().get(0).errorCode());
    }

    private void fetch() {
        OffsetFetchRequest request = new OffsetFetchRequest()
                .setGroupId(id)
                .setRequireStable(true)
                .setTopics(List.of(new OffsetFetchRequest.OffsetFetchRequestTopic()
                        .setName(partition.topic())
                        .setPartitionIndexes(List.of(partition.number()))));
        client.send(coordinator, ApiKey.OFFSET_FETCH, FETCH_VERSION, request, message -> {}, this::onFetched);
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
