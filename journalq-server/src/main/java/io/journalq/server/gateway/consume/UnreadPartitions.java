package io.journalq.server.gateway.consume;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The partitions of a read that ends where they ended when the request arrived, in the order of their turns. A partition
 * leaves when it was read up to that end. On the loop of the reader.
 */
final class UnreadPartitions {
    /** A fetch finds nothing before the end if the pool of cold reads is full, or if compaction removed everything. */
    private static final int MAX_EMPTY_FETCHES = 3;

    private final Tail tail;
    private final Map<Integer, Long> ends = new TreeMap<>();
    private final ArrayDeque<Integer> unread = new ArrayDeque<>();

    /** Fetches without records since the last one that had some. */
    private int emptyFetches;

    UnreadPartitions(Tail tail) {
        this.tail = tail;
    }

    /** Lets the reading begin at the positions that were found, and end at their ends. */
    void begin(StartLookup.Positions found) {
        tail.begin(found.offsets());
        tail.endAt(found.ends());
        ends.putAll(found.ends());
        found.offsets().keySet().stream()
                .filter(partition -> !tail.isAtEnd(partition))
                .forEach(unread::add);
    }

    /** Whether there is a partition that was neither read up to its end nor given up. */
    boolean hasNext() {
        while (!unread.isEmpty() && tail.isAtEnd(unread.peek())) {
            unread.remove();
        }
        return !unread.isEmpty();
    }

    /** Fetches from the partition whose turn it is, and puts it behind the others. There must be one. */
    void fetchNext(Runnable onFetched) {
        int next = unread.remove();
        unread.add(next);
        tail.fetch(List.of(next), 0, onFetched);
    }

    /** The results of the reader's partition begin. Gives the partition up after several fetches without records. */
    void onPartition() {
        if (tail.hasRecords()) {
            emptyFetches = 0;
            return;
        }
        emptyFetches++;
        if (emptyFetches >= MAX_EMPTY_FETCHES) {
            onEnd();
        }
    }

    /** The reader's partition is not read any further. */
    void onEnd() {
        unread.remove(tail.partition());
    }

    /** The end of a partition: the offset behind its last record when the request arrived. */
    long end(int partition) {
        return ends.get(partition);
    }

    /** Number of offsets between the positions of the reader and the ends, including partitions that were given up. */
    long remainingOffsets() {
        long remaining = 0;
        for (Map.Entry<Integer, Long> end : ends.entrySet()) {
            remaining += Math.max(0, end.getValue() - tail.positions().getOrDefault(end.getKey(), end.getValue()));
        }
        return remaining;
    }
}
