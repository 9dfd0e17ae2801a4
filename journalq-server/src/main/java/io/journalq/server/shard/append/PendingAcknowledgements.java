package io.journalq.server.shard.append;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.loop.LoopCounters;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The pending acknowledgements of one partition, in the order of offsets: for appends that are not written yet, and for
 * appends that are written but not durable. Every append is acknowledged or rejected once. On the partition's loop.
 */
final class PendingAcknowledgements {
    private final LoopCounters counters;

    /** Null until the first append, like {@code unflushed}: with very many partitions, most are idle. */
    private ArrayDeque<Append> unwritten;

    private ArrayDeque<Append> unflushed;

    PendingAcknowledgements(LoopCounters counters) {
        this.counters = counters;
    }

    /** Adds a staged append. */
    void add(Append append) {
        if (unwritten == null) {
            unwritten = new ArrayDeque<>();
            unflushed = new ArrayDeque<>();
        }
        unwritten.add(append);
    }

    /** Moves the appends that waited to be written to those that wait to be durable. */
    void awaitDurability() {
        if (unwritten != null) {
            unflushed.addAll(unwritten);
            unwritten.clear();
        }
    }

    /** Acknowledges the appends before {@code offset} for which a write is sufficient. */
    void completeWritten(long offset, long logStartOffset) {
        completeUpTo(unwritten, offset, logStartOffset);
    }

    /** Acknowledges the appends before {@code offset}, which are durable. */
    void completeDurable(long offset, long logStartOffset) {
        completeUpTo(unflushed, offset, logStartOffset);
    }

    private static void completeUpTo(ArrayDeque<Append> waiting, long offset, long logStartOffset) {
        if (waiting == null) {
            return;
        }
        for (Append head = waiting.peek(); head != null && head.nextOffset() <= offset; head = waiting.peek()) {
            waiting.poll().complete(logStartOffset);
        }
    }

    /** Rejects the appends behind {@code keptOffset}, which could not be written and are dropped. */
    void refuseUnwritten(long keptOffset, IOException failure) {
        if (unwritten == null) {
            return;
        }
        List<Append> lost = new ArrayList<>();
        for (Append append : unwritten) {
            if (append.nextOffset() > keptOffset) {
                lost.add(append);
            }
        }
        unwritten.removeAll(lost);
        refuseByDisk(lost, failure);
    }

    /** Rejects the appends that are written, because it is unknown which of them survive. */
    void refuseUnflushed(IOException failure) {
        if (unflushed != null) {
            List<Append> lost = List.copyOf(unflushed);
            unflushed.clear();
            refuseByDisk(lost, failure);
        }
    }

    private void refuseByDisk(List<Append> lost, IOException failure) {
        counters.onRefusedByDisk(lost.size());
        lost.forEach(append -> append.refuse(ErrorCode.KAFKA_STORAGE_ERROR, failure.getMessage()));
    }

    /** Rejects all appends, because nothing more will be written. */
    void refuseAll(ErrorCode error) {
        refuseAll(unflushed, error);
        refuseAll(unwritten, error);
    }

    private static void refuseAll(ArrayDeque<Append> waiting, ErrorCode error) {
        while (waiting != null && !waiting.isEmpty()) {
            waiting.poll().refuse(error, null);
        }
    }
}
