package io.journalq.cli.cluster;

import io.journalq.cli.cluster.ReplicaPlan.Move;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.Admin;
import io.journalq.client.admin.LogDirDescription;
import io.journalq.client.admin.PartitionReassignment;
import io.journalq.client.error.JournalQException;
import io.journalq.common.id.TopicPartition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Moves partitions, some at a time, and shows the progress. One thread. */
final class PartitionMoves {
    /** Number of partitions that move at the same time. */
    private static final int AT_A_TIME = 100;

    private static final int POLL_MS = 500;
    private static final long STALLED_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int MOST_FAILURES = 10;
    private static final int PERCENT = 100;

    private final Admin admin;
    private final Terminal terminal;
    private final List<String> failures = new ArrayList<>();
    private int failedPartitions;

    PartitionMoves(Admin admin, Terminal terminal) {
        this.admin = admin;
        this.terminal = terminal;
    }

    /**
     * Moves partitions. Those that cannot move are reported at the end.
     *
     * @param waits whether to wait until they have moved
     */
    void run(List<Move> moves, boolean waits) throws InterruptedException {
        long startNanos = System.nanoTime();
        long totalBytes = moves.stream().mapToLong(Move::copiedBytes).sum();
        long laterBytes = totalBytes;
        for (int from = 0; from < moves.size(); from += AT_A_TIME) {
            List<Move> some = moves.subList(from, Math.min(moves.size(), from + AT_A_TIME));
            start(some);
            laterBytes -= some.stream().mapToLong(Move::copiedBytes).sum();
            if (waits) {
                await(some, laterBytes, totalBytes, moves.size() - from - some.size());
            }
        }
        terminal.endProgress();
        int moved = moves.size() - failedPartitions;
        if (moved > 0) {
            terminal.tell(
                    waits
                            ? "moved " + Quantity.count(moved, "partition") + " in "
                                    + Quantity.duration(Duration.ofNanos(System.nanoTime() - startNanos))
                            : Quantity.count(moved, "partition") + " move now; to see how far they are, run journalq"
                                    + " cluster reassign --list");
        }
        if (!failures.isEmpty()) {
            failures.stream().limit(MOST_FAILURES).forEach(failure -> terminal.tell("journalq: " + failure));
            throw new CommandFailure(Quantity.count(failedPartitions, "partition") + " of "
                    + Quantity.count(moves.size()) + " cannot move; see above");
        }
    }

    private void start(List<Move> moves) {
        Map<TopicPartition, List<Integer>> targets = new LinkedHashMap<>();
        moves.forEach(move -> targets.put(move.partition(), move.to()));
        try {
            admin.alterPartitionReassignments(targets);
        } catch (JournalQException failure) {
            failures.add(failure.getMessage());
            for (Throwable other : failure.getSuppressed()) {
                failures.add(other.getMessage());
            }
            // A request that fails as a whole has one error, which names no partition.
            failedPartitions += namesOneOf(moves, failure) ? 1 + failure.getSuppressed().length : moves.size();
        }
    }

    private static boolean namesOneOf(List<Move> moves, JournalQException failure) {
        return moves.stream().anyMatch(move -> failure.getMessage().startsWith("partition " + move.partition() + ":"));
    }

    private void await(List<Move> moves, long laterBytes, long totalBytes, int laterPartitions)
            throws InterruptedException {
        long lastLeft = Long.MAX_VALUE;
        int lastMoving = Integer.MAX_VALUE;
        long progressNanos = System.nanoTime();
        while (true) {
            Map<TopicPartition, PartitionReassignment> moving = admin.listPartitionReassignments();
            moving.keySet().retainAll(moves.stream().map(Move::partition).toList());
            if (moving.isEmpty()) {
                return;
            }
            long left = laterBytes + bytesLeft(admin.describeLogDirs(), moving);
            terminal.showProgress("moving " + Quantity.count(moving.size() + laterPartitions, "partition") + ": "
                    + Quantity.size(left) + " left" + percentage(totalBytes, left));
            if (left < lastLeft || moving.size() < lastMoving) {
                progressNanos = System.nanoTime();
            } else if (System.nanoTime() - progressNanos > STALLED_NANOS) {
                progressNanos = System.nanoTime();
                terminal.warn("no progress for 60 s; to see whether all brokers run, use journalq cluster describe");
            }
            lastLeft = Math.min(left, lastLeft);
            lastMoving = moving.size();
            Thread.sleep(POLL_MS);
        }
    }

    static String percentage(long totalBytes, long leftBytes) {
        return totalBytes <= 0
                ? ""
                : " (" + Math.max(0, Math.min(PERCENT, PERCENT - leftBytes * PERCENT / totalBytes)) + " % copied)";
    }

    /** What the new replicas do not have yet, in bytes. */
    static long bytesLeft(List<LogDirDescription> logDirs, Map<TopicPartition, PartitionReassignment> moving) {
        long left = 0;
        for (Map.Entry<TopicPartition, PartitionReassignment> move : moving.entrySet()) {
            long whole = logDirs.stream()
                    .mapToLong(dir -> dir.partitionSizesBytes().getOrDefault(move.getKey(), 0L))
                    .max()
                    .orElse(0);
            for (int id : move.getValue().adding()) {
                long there = logDirs.stream()
                        .filter(dir -> dir.brokerId() == id)
                        .mapToLong(dir -> dir.partitionSizesBytes().getOrDefault(move.getKey(), 0L))
                        .sum();
                left += Math.max(0, whole - there);
            }
        }
        return left;
    }
}
