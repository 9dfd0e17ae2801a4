package io.journalq.client.internal.fetch;

import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.BatchReader;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;

/**
 * Detects batches of aborted transactions while reading the data of one partition in a Fetch response from its
 * beginning. The batches of a producer are aborted from the first offset that the response states up to the marker that
 * ends the transaction (KIP-98). For one pass.
 */
final class AbortedRecords {
    private static final int MARKER_KEY_SIZE_BYTES = 4;
    private static final int MARKER_TYPE = 2;
    private static final short ABORT = 0;

    private final Queue<FetchResponse.AbortedTransaction> toCome;
    private final Set<Long> producers = new HashSet<>();

    AbortedRecords(List<FetchResponse.AbortedTransaction> aborted) {
        this.toCome = new ArrayDeque<>(aborted.stream()
                .sorted(Comparator.comparingLong(FetchResponse.AbortedTransaction::firstOffset))
                .toList());
    }

    /** Whether the current batch of the reader belongs to an aborted transaction. Called for each batch in order. */
    boolean contains(BatchReader reader) {
        while (!toCome.isEmpty() && toCome.element().firstOffset() < reader.nextOffset()) {
            producers.add(toCome.remove().producerId());
        }
        if (!reader.isTransactional() || !producers.contains(reader.producerId())) {
            return false;
        }
        if (!reader.isControlBatch()) {
            return true;
        }
        if (isAbortMarker(reader)) {
            producers.remove(reader.producerId());
        }
        return false;
    }

    private static boolean isAbortMarker(BatchReader reader) {
        if (!reader.next() || reader.keySizeBytes() < MARKER_KEY_SIZE_BYTES) {
            return false;
        }
        ByteBuf key = reader.key();
        return key.getShort(key.readerIndex() + MARKER_TYPE) == ABORT;
    }
}
