package io.journalq.server.api.peer;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.api.LocalCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One fetch without a session, from the leaders of its partitions. A broker that leads all of them waits for records itself.
 * Others are asked again and again while there is no record, without waiting there: a connection between brokers carries
 * the requests of many clients, and its responses come in order. A change of leaders is waited for in the same way. On the
 * loop of the client.
 */
final class RoutedFetch {
    private static final int FIRST_DELAY_MS = 5;
    private static final int MAX_DELAY_MS = 100;

    private final RoutedCalls calls;
    private final LocalCall.Client client;
    private final int version;
    private final FetchRequest request;
    private final Consumer<FetchResponse> onResponse;
    private final long deadlineNanos;
    private int delayMs = FIRST_DELAY_MS;
    private int open;
    private boolean failed;
    private int throttleMs;
    private final List<FetchResponse.FetchableTopicResponse> found = new ArrayList<>();

    RoutedFetch(
            RoutedCalls calls,
            LocalCall.Client client,
            int version,
            FetchRequest request,
            Consumer<FetchResponse> onResponse) {
        this.calls = calls;
        this.client = client;
        this.version = version;
        this.request = request;
        this.onResponse = onResponse;
        this.deadlineNanos = nanoTime() + TimeUnit.MILLISECONDS.toNanos(request.maxWaitMs());
    }

    /** Gives each partition of a response a reference of its own to the buffer that they share. */
    static void own(FetchResponse response) {
        response.responses().forEach(topic -> topic.partitions().forEach(partition -> {
            if (partition.records() == null) {
                partition.setRecords(RecordsData.EMPTY);
            }
            partition.records().retain();
        }));
    }

    private long nanoTime() {
        return client.cycle().loop().nanoTime();
    }

    private long leftMs() {
        return Math.max(0, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - nanoTime()));
    }

    void start() {
        Map<Integer, FetchRequest> parts = SplitRequest.FETCH.parts(request, calls.placement());
        boolean here = parts.size() == 1 && parts.containsKey(calls.nodeId());
        open = parts.size();
        parts.forEach((broker, part) -> {
            part.setMaxWaitMs(here ? (int) leftMs() : 0)
                    .setMinBytes(here ? request.minBytes() : 0)
                    .setMaxBytes(Math.max(1, request.maxBytes() / parts.size()));
            calls.callAt(broker, client, SplitRequest.FETCH, version, part, 0, response -> {
                open--;
                if (response instanceof FetchResponse fetched && fetched.errorCode() == ErrorCode.NONE.code()) {
                    throttleMs = Math.max(throttleMs, fetched.throttleTimeMs());
                    found.addAll(fetched.responses());
                } else {
                    failed = true;
                }
                if (open == 0) {
                    onAll();
                }
            });
        });
    }

    private void onAll() {
        boolean hasRecords = false;
        boolean hasError = false;
        for (FetchResponse.FetchableTopicResponse topic : found) {
            for (FetchResponse.PartitionData partition : topic.partitions()) {
                hasRecords |= partition.records().sizeBytes() > 0;
                hasError |= partition.errorCode() != ErrorCode.NONE.code() && !isTemporary(partition);
            }
        }
        boolean mayWait = leftMs() > 0 && throttleMs == 0 && !client.session().isClosed();
        if (failed) {
            found.forEach(topic ->
                    topic.partitions().forEach(partition -> partition.records().release()));
            onResponse.accept(null);
        } else if (!hasRecords && !hasError && mayWait) {
            found.clear();
            client.cycle().loop().schedule(this::start, Math.min(delayMs, leftMs()));
            delayMs = Math.min(2 * delayMs, MAX_DELAY_MS);
        } else {
            if (hasRecords && request.maxWaitMs() > 0) {
                // The next fetch asks their next leaders.
                found.forEach(topic -> topic.setPartitions(topic.partitions().stream()
                        .filter(partition -> !isTemporary(partition))
                        .toList()));
            }
            onResponse.accept(new FetchResponse().setThrottleTimeMs(throttleMs).setResponses(found));
        }
    }

    /** Whether another broker will lead the partition soon. Such a partition has no records in the response. */
    private static boolean isTemporary(FetchResponse.PartitionData partition) {
        return switch (ErrorCode.of(partition.errorCode())) {
            case NOT_LEADER_OR_FOLLOWER, LEADER_NOT_AVAILABLE, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH -> true;
            default -> false;
        };
    }
}
