package io.journalq.server.journal.compaction;

import io.journalq.common.record.BatchReader;
import io.journalq.common.record.InvalidBatchException;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The aborted transactions in a range of a log, derived from the markers in it. A producer's transaction consists of
 * everything it wrote since its last marker. An abort marker therefore aborts the records that its producer wrote
 * between the two. One thread.
 *
 * <p>Source: KIP-98.
 */
public final class TransactionEnds {
    /** Maximum number of aborted transactions that are remembered; the range ends before the next one. */
    public static final int MAX_ABORTED = 1_000_000;

    private static final int MARKER_KEY_SIZE_BYTES = 4;
    private static final int MARKER_TYPE_INDEX = 2;
    private static final short ABORT = 0;
    private static final short COMMIT = 1;

    /**
     * For each producer, ascending pairs of the offset behind which an aborted transaction begins and the offset of its
     * marker.
     */
    private final Map<Long, List<long[]>> abortedByProducer = new HashMap<>();
    /**
     * Producers that wrote since their last marker, with the offset of that marker, or one less than their first
     * record.
     */
    private final Map<Long, Long> openSince = new HashMap<>();

    private int abortedCount;

    /** Records a batch of a transaction at {@code offset}. Batches and markers come in the order of offsets. */
    public void noteData(long producerId, long offset) {
        openSince.putIfAbsent(producerId, offset - 1);
    }

    /** Records the current batch of {@code reader}, which is a control batch. */
    public void noteMarker(BatchReader reader) {
        Long since = openSince.remove(reader.producerId());
        if (since != null && isAbort(reader)) {
            abortedByProducer
                    .computeIfAbsent(reader.producerId(), id -> new ArrayList<>())
                    .add(new long[] {since, reader.baseOffset()});
            abortedCount++;
        }
    }

    private static boolean isAbort(BatchReader reader) {
        if (!reader.next()) {
            return false; // Compaction removed the marker's record.
        }
        ByteBuf key = reader.key();
        if (key == null || key.readableBytes() < MARKER_KEY_SIZE_BYTES) {
            throw new InvalidBatchException("a control record without a type");
        }
        short type = key.getShort(key.readerIndex() + MARKER_TYPE_INDEX);
        if (type != ABORT && type != COMMIT) {
            return false; // Other types of control record do not end a transaction.
        }
        return type == ABORT;
    }

    /**
     * Whether a producer has written records without a marker behind them: the scan must continue to find their
     * outcome.
     */
    public boolean hasOpen() {
        return !openSince.isEmpty();
    }

    /** Offset of the first batch without a marker behind it; {@link Long#MAX_VALUE} if there is none. */
    public long firstOpenOffset() {
        long first = Long.MAX_VALUE;
        for (long since : openSince.values()) {
            first = Math.min(first, since + 1);
        }
        return first;
    }

    /** Whether no more transactions can be remembered. */
    public boolean isFull() {
        return abortedCount >= MAX_ABORTED;
    }

    /** Whether the producer's records at {@code offset} were aborted. */
    public boolean isAborted(long producerId, long offset) {
        List<long[]> aborted = abortedByProducer.get(producerId);
        if (aborted == null) {
            return false;
        }
        int low = 0;
        int high = aborted.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (aborted.get(middle)[1] < offset) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low < aborted.size() && aborted.get(low)[0] < offset;
    }
}
