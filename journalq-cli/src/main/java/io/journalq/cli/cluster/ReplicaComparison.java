package io.journalq.cli.cluster;

import io.journalq.cli.shell.Quantity;
import io.journalq.client.admin.ReplicaCheck;
import io.journalq.client.error.JournalQException;
import io.journalq.common.id.TopicPartition;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Compares the replicas of one partition, a range at a time, and checks each for damage. Replicas of a compacted
 * partition are checked only, because each broker compacts on its own. One thread.
 */
final class ReplicaComparison {
    /** Size of a range: few requests, and little to read again if replicas end at different batches. */
    static final int RANGE_BYTES = 4 << 20;

    private final TopicPartition partition;
    private final Reader reader;
    private final Map<Integer, ReplicaCheck> replicas = new LinkedHashMap<>();
    private final List<Finding> findings = new ArrayList<>();
    private boolean compacted;
    private long readBytes;

    /** Lets a broker read a range of its replica. */
    @FunctionalInterface
    interface Reader {
        /**
         * Reads a range, see {@link io.journalq.client.Admin#checkReplica}.
         *
         * @throws JournalQException if the broker cannot
         */
        ReplicaCheck check(int broker, long offset, long endOffset, int maxBytes);
    }

    /** What is wrong with a replica. */
    enum Kind {
        /** Records are damaged or missing. */
        DAMAGED,
        /** Undamaged records are not those of another replica. */
        DIFFERENT,
        /** The replica could not be read. */
        UNREADABLE
    }

    /**
     * Something that is wrong with a replica.
     *
     * @param offset the first offset; -1 for a replica that could not be read
     * @param endOffset the offset behind the last one
     * @param what in words
     */
    record Finding(TopicPartition partition, int broker, Kind kind, long offset, long endOffset, String what) {
        @Override
        public String toString() {
            String where = offset < 0
                    ? ""
                    : "offsets " + Quantity.count(offset) + " to " + Quantity.count(endOffset - 1) + " ";
            return partition.topic() + ":" + partition.partition() + " on broker " + broker + ": " + where + what;
        }
    }

    ReplicaComparison(TopicPartition partition, Reader reader) {
        this.partition = partition;
        this.reader = reader;
    }

    List<Finding> findings() {
        return findings;
    }

    /** Whether the replicas were only checked, because compaction makes them differ. */
    boolean isCompacted() {
        return compacted;
    }

    /** Number of replicas that could be read to the end. */
    int replicas() {
        return replicas.size();
    }

    /** Size of all batches that were read, of all replicas. */
    long readBytes() {
        return readBytes;
    }

    /** The replica on a broker cannot be read. */
    void onUnreadable(int broker, String reason) {
        replicas.remove(broker);
        findings.add(new Finding(partition, broker, Kind.UNREADABLE, -1, -1, "not verified: " + reason));
    }

    /**
     * Compares the replicas up to the least high watermark.
     *
     * @param brokers that have them, the leader first
     * @param afterRange runs after each range
     */
    void run(List<Integer> brokers, Runnable afterRange) {
        for (int broker : brokers) {
            ReplicaCheck check = ask(broker, 0, 0);
            if (check != null) {
                replicas.put(broker, check);
            }
        }
        compacted = replicas.values().stream().anyMatch(ReplicaCheck::mayHaveGaps);
        if (!compacted) {
            run(List.copyOf(replicas.keySet()), replicas.values(), afterRange);
            return;
        }
        for (int broker : List.copyOf(replicas.keySet())) {
            run(List.of(broker), List.of(replicas.get(broker)), afterRange);
        }
    }

    private void run(List<Integer> brokers, Iterable<ReplicaCheck> checks, Runnable afterRange) {
        long offset = 0;
        long end = Long.MAX_VALUE;
        for (ReplicaCheck check : checks) {
            offset = Math.max(offset, check.startOffset());
            end = Math.min(end, check.highWatermark());
        }
        while (offset < end && brokers.stream().anyMatch(replicas::containsKey)) {
            offset = compare(brokers, offset, end);
            afterRange.run();
        }
    }

    /** Compares one range; returns where the next one begins. */
    private long compare(List<Integer> brokers, long offset, long end) {
        Map<Integer, ReplicaCheck> checks = new LinkedHashMap<>();
        for (int broker : brokers) {
            ReplicaCheck check = replicas.containsKey(broker) ? ask(broker, offset, end) : null;
            if (check != null) {
                checks.put(broker, check);
            }
        }
        long start = checks.values().stream()
                .mapToLong(ReplicaCheck::startOffset)
                .max()
                .orElse(offset);
        if (start > offset) {
            return start; // Retention has deleted the records meanwhile.
        }
        long to = end;
        for (ReplicaCheck check : checks.values()) {
            to = Math.min(to, check.endOffset() > offset ? check.endOffset() : check.damagedUntil());
        }
        int reference = -1;
        ReplicaCheck expected = null;
        for (Map.Entry<Integer, ReplicaCheck> replica : checks.entrySet()) {
            int broker = replica.getKey();
            ReplicaCheck check = replica.getValue();
            if (check.endOffset() == offset) {
                add(broker, Kind.DAMAGED, offset, to, "are damaged");
                continue;
            }
            if (check.endOffset() != to) {
                check = ask(broker, offset, to);
                if (check == null) {
                    continue;
                }
                if (check.startOffset() > offset) {
                    return check.startOffset();
                }
            }
            readBytes += check.sizeBytes();
            if (expected == null) {
                reference = broker;
                expected = check;
            } else if (!isEqual(check, expected)) {
                add(broker, Kind.DIFFERENT, offset, to, "differ from those of broker " + reference);
            }
        }
        return to;
    }

    private static boolean isEqual(ReplicaCheck one, ReplicaCheck other) {
        return one.endOffset() == other.endOffset()
                && one.batches() == other.batches()
                && one.sizeBytes() == other.sizeBytes()
                && one.checksum() == other.checksum();
    }

    /** Adds a finding, or extends the last one of the replica if it is the same. */
    private void add(int broker, Kind kind, long offset, long endOffset, String what) {
        for (int i = 0; i < findings.size(); i++) {
            Finding last = findings.get(i);
            if (last.broker() == broker
                    && last.kind() == kind
                    && last.endOffset() == offset
                    && Objects.equals(last.what(), what)) {
                findings.set(i, new Finding(partition, broker, kind, last.offset(), endOffset, what));
                return;
            }
        }
        findings.add(new Finding(partition, broker, kind, offset, endOffset, what));
    }

    /** Null if the replica cannot be read, which is then a finding. */
    private ReplicaCheck ask(int broker, long offset, long endOffset) {
        try {
            ReplicaCheck check = reader.check(broker, offset, endOffset, RANGE_BYTES);
            boolean nothing = offset < endOffset
                    && check.endOffset() == offset
                    && !check.isDamaged()
                    && check.startOffset() <= offset;
            if (!nothing) {
                return check;
            }
            onUnreadable(broker, "its high watermark has moved back to offset " + check.highWatermark());
        } catch (JournalQException failure) {
            onUnreadable(broker, failure.getMessage());
        }
        return null;
    }
}
