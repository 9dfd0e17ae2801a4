package io.journalq.server.shard;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.loop.LoopCounters;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The acknowledgements that one partition owes: to appends that are not written yet, or written and not durable, and to
 * those who wait for a flush; each in the order of offsets. Everybody hears once, of success or of failure. On the
 * partition's loop.
 */
final class PendingAcknowledgements {
    private final LoopCounters counters;

    /** Null until the first append, as {@code unflushed}: most partitions of very many are idle. */
    private ArrayDeque<Append> unwritten;

    private ArrayDeque<Append> unflushed;

    /** Null until somebody waits for the first time. */
    private ArrayDeque<FlushWait> flushWaits;

    PendingAcknowledgements(LoopCounters counters) {
        this.counters = counters;
    }

    /** Somebody who waits until what is before an offset is on the disk. */
    private record FlushWait(long offset, Consumer<ErrorCode> done) {}

    /** The append is staged. */
    void add(Append append) {
        if (unwritten == null) {
            unwritten = new ArrayDeque<>();
            unflushed = new ArrayDeque<>();
        }
        unwritten.add(append);
    }

    /** Somebody wants to hear that everything before {@code offset} is on the disk, or why it is not. */
    void addFlushWait(long offset, Consumer<ErrorCode> done) {
        if (flushWaits == null) {
            flushWaits = new ArrayDeque<>(1);
        }
        flushWaits.add(new FlushWait(offset, done));
    }

    boolean hasFlushWaits() {
        return flushWaits != null && !flushWaits.isEmpty();
    }

    /** What waited to be written is, and waits to be durable now. */
    void awaitDurability() {
        if (unwritten != null) {
            unflushed.addAll(unwritten);
            unwritten.clear();
        }
    }

    /** To be written is enough, and everything before {@code offset} is. */
    void completeWritten(long offset, long logStartOffset) {
        completeUpTo(unwritten, offset, logStartOffset);
    }

    /** Everything before {@code offset} is durable. */
    void completeDurable(long offset, long logStartOffset) {
        completeUpTo(unflushed, offset, logStartOffset);
        endFlushWaits(offset, ErrorCode.NONE);
    }

    private static void completeUpTo(ArrayDeque<Append> waiting, long offset, long logStartOffset) {
        if (waiting == null) {
            return;
        }
        for (Append head = waiting.peek(); head != null && head.nextOffset() <= offset; head = waiting.peek()) {
            waiting.poll().complete(logStartOffset);
        }
    }

    /** What is behind {@code keptOffset} could not be written and is dropped. */
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

    /** Nobody can say what is safe of that which is written. */
    void refuseUnflushed(IOException failure) {
        if (unflushed != null) {
            List<Append> lost = List.copyOf(unflushed);
            unflushed.clear();
            refuseByDisk(lost, failure);
        }
        endFlushWaits(Long.MAX_VALUE, ErrorCode.KAFKA_STORAGE_ERROR);
    }

    private void refuseByDisk(List<Append> lost, IOException failure) {
        counters.onRefusedByDisk(lost.size());
        lost.forEach(append -> append.refuse(ErrorCode.KAFKA_STORAGE_ERROR, failure.getMessage()));
    }

    /** Nothing more is written or flushed here. */
    void refuseAll(ErrorCode error) {
        refuseAll(unflushed, error);
        refuseAll(unwritten, error);
        endFlushWaits(Long.MAX_VALUE, error);
    }

    private static void refuseAll(ArrayDeque<Append> waiting, ErrorCode error) {
        while (waiting != null && !waiting.isEmpty()) {
            waiting.poll().refuse(error, null);
        }
    }

    private void endFlushWaits(long upToOffset, ErrorCode outcome) {
        while (hasFlushWaits() && flushWaits.peek().offset() <= upToOffset) {
            flushWaits.poll().done().accept(outcome);
        }
    }
}
