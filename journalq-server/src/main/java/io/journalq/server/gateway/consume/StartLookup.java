package io.journalq.server.gateway.consume;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.ListOffsetsResponse;
import io.journalq.server.gateway.http.Caller;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Looks up offsets of a topic for a client: the ends of its partitions, and where a reader begins. If the leader of a
 * partition changes, it waits for the next one, as a fetch does. Nothing is called any more when its caller has ended.
 * On the loop of its caller.
 */
public final class StartLookup {
    private static final int VERSION = 7;
    private static final byte READ_COMMITTED = 1;
    private static final String EXISTING_OFFSET = "read from=start, or send an offset that exists";

    /** Time until the next attempt while the leader of a partition changes. */
    private static final int RETRY_MS = 100;

    private final Caller caller;
    private final String topic;
    private final int waitMs;
    private final Consumer<Problem> onProblem;
    private boolean closed;

    /**
     * Looks up nothing yet.
     *
     * @param waitMs how long each lookup waits for the next leaders of partitions
     * @param onProblem is called instead of the consumer of a result
     */
    public StartLookup(Caller caller, String topic, int waitMs, Consumer<Problem> onProblem) {
        this.caller = caller;
        this.topic = topic;
        this.waitMs = waitMs;
        this.onProblem = onProblem;
    }

    /**
     * Where a reader begins.
     *
     * @param offsets the next offset of each partition
     * @param ends the end of each partition: the offset behind its last record
     */
    public record Positions(Map<Integer, Long> offsets, Map<Integer, Long> ends) {}

    /** Ends what waits. Nothing is called any more. */
    public void close() {
        closed = true;
    }

    private boolean isClosed() {
        return closed || caller.isClosed();
    }

    /** Finds the positions at which a reader begins. */
    public void begin(Start wanted, Consumer<Positions> next) {
        find(wanted.offsets().keySet(), Start.END, ends -> {
            List<Integer> unknown = wanted.offsets().entrySet().stream()
                    .filter(position -> position.getValue() < 0)
                    .map(Map.Entry::getKey)
                    .toList();
            if (unknown.isEmpty() || wanted.timestamp() == Start.END) {
                checked(wanted, ends, ends, next);
            } else {
                find(unknown, wanted.timestamp(), found -> checked(wanted, found, ends, next));
            }
        });
    }

    /** @param found the offsets of the partitions for which the request has none; -1 if no record is as new as its time */
    private void checked(Start wanted, Map<Integer, Long> found, Map<Integer, Long> ends, Consumer<Positions> next) {
        Map<Integer, Long> offsets = new TreeMap<>();
        for (Map.Entry<Integer, Long> position : wanted.offsets().entrySet()) {
            int partition = position.getKey();
            long end = ends.get(partition);
            long given = position.getValue();
            if (given > end) {
                // The topic was deleted and created again, or has lost its newest records.
                onProblem.accept(outOfRange(partition, given, end));
                return;
            }
            long offset = given >= 0 ? given : found.get(partition);
            offsets.put(partition, offset < 0 ? end : Math.min(offset, end));
        }
        next.accept(new Positions(offsets, ends));
    }

    /** Finds the first offset of a partition. */
    public void findStart(int partition, Consumer<Long> next) {
        find(List.of(partition), Start.START, found -> next.accept(found.get(partition)));
    }

    private void find(Collection<Integer> partitions, long timestamp, Consumer<Map<Integer, Long>> next) {
        find(partitions, timestamp, nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs), next);
    }

    private long nanoTime() {
        return caller.cycle().loop().nanoTime();
    }

    private void find(
            Collection<Integer> partitions, long timestamp, long deadlineNanos, Consumer<Map<Integer, Long>> next) {
        ListOffsetsRequest request = new ListOffsetsRequest()
                .setIsolationLevel(READ_COMMITTED)
                .setTopics(List.of(new ListOffsetsRequest.ListOffsetsTopic()
                        .setName(topic)
                        .setPartitions(partitions.stream()
                                .map(number -> new ListOffsetsRequest.ListOffsetsPartition()
                                        .setPartitionIndex(number)
                                        .setTimestamp(timestamp))
                                .toList())));
        caller.call(ApiKey.LIST_OFFSETS, VERSION, request, 0, response -> {
            if (isClosed()) {
                return;
            }
            if (nanoTime() < deadlineNanos && changesLeader(response)) {
                caller.schedule(
                        () -> {
                            if (!isClosed()) {
                                find(partitions, timestamp, deadlineNanos, next);
                            }
                        },
                        RETRY_MS);
            } else {
                onResponse(response, partitions, next);
            }
        });
    }

    /** Whether a partition has no leader that knows its end yet, and nothing else is wrong. */
    private static boolean changesLeader(ApiMessage response) {
        boolean changes = false;
        if (response instanceof ListOffsetsResponse offsets) {
            for (ListOffsetsResponse.ListOffsetsPartitionResponse each :
                    offsets.topics().get(0).partitions()) {
                switch (ErrorCode.of(each.errorCode())) {
                    case NONE -> {}
                    case NOT_LEADER_OR_FOLLOWER,
                            LEADER_NOT_AVAILABLE,
                            FENCED_LEADER_EPOCH,
                            UNKNOWN_LEADER_EPOCH,
                            OFFSET_NOT_AVAILABLE -> changes = true;
                    default -> {
                        return false;
                    }
                }
            }
        }
        return changes;
    }

    private void onResponse(ApiMessage response, Collection<Integer> partitions, Consumer<Map<Integer, Long>> next) {
        Map<Integer, Long> found = new TreeMap<>();
        if (response instanceof ListOffsetsResponse offsets) {
            for (ListOffsetsResponse.ListOffsetsPartitionResponse each :
                    offsets.topics().get(0).partitions()) {
                if (each.errorCode() != ErrorCode.NONE.code()) {
                    onProblem.accept(problem(ErrorCode.of(each.errorCode()), each.partitionIndex()));
                    return;
                }
                found.put(each.partitionIndex(), each.offset());
            }
        }
        if (found.size() < partitions.size()) {
            onProblem.accept(
                    new Problem(ProblemType.INTERNAL_ERROR, "the broker gave no response", "see the broker's log"));
            return;
        }
        next.accept(found);
    }

    public static Problem outOfRange(int partition, long position, long end) {
        return new Problem(
                ProblemType.OFFSET_OUT_OF_RANGE,
                "offset " + position + " is not in the log of partition " + partition + ", which ends at " + end,
                EXISTING_OFFSET);
    }

    /** The problem of a partition that could not be read. */
    public static Problem problem(ErrorCode error, int partition) {
        return problem(error, "partition " + partition);
    }

    /** The same, for a partition as the client knows it. */
    public static Problem problem(ErrorCode error, String partition) {
        String detail = partition + ": " + error.words();
        return switch (error) {
            case TOPIC_AUTHORIZATION_FAILED -> Problem.denied(detail);
            case UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID ->
                new Problem(ProblemType.UNKNOWN_TOPIC, detail, "create the topic, or try again if it was just created");
            case OFFSET_OUT_OF_RANGE -> new Problem(ProblemType.OFFSET_OUT_OF_RANGE, detail, EXISTING_OFFSET);
            case KAFKA_STORAGE_ERROR,
                    NOT_LEADER_OR_FOLLOWER,
                    LEADER_NOT_AVAILABLE,
                    FENCED_LEADER_EPOCH,
                    UNKNOWN_LEADER_EPOCH,
                    OFFSET_NOT_AVAILABLE,
                    REQUEST_TIMED_OUT ->
                new Problem(ProblemType.UNAVAILABLE, detail, "try again; see the broker's log if this continues");
            default -> new Problem(ProblemType.INTERNAL_ERROR, detail, "see the broker's log");
        };
    }
}
