package io.journalq.server.gateway.consume;

import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.TransactionMarker;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Tells the batches of aborted transactions from those of committed ones, in one part of a partition's log.
 *
 * <p>Source: KIP-98, "Consumer".
 */
final class AbortedBatches {
    private final ArrayDeque<FetchResponse.AbortedTransaction> next = new ArrayDeque<>();
    private final Set<Long> producers = new HashSet<>();

    AbortedBatches(List<FetchResponse.AbortedTransaction> aborted) {
        if (aborted != null) {
            aborted.stream()
                    .sorted(Comparator.comparingLong(FetchResponse.AbortedTransaction::firstOffset))
                    .forEach(next::add);
        }
    }

    /**
     * Whether the records of a batch are for readers. Called once for each batch, in their order.
     *
     * @param log has the header of the batch at {@code index}, and all of it if it is a control batch
     */
    boolean isReadable(ByteBuf log, int index) {
        while (!next.isEmpty() && next.peek().firstOffset() < RecordBatch.nextOffset(log, index)) {
            producers.add(next.remove().producerId());
        }
        if (RecordBatch.isControl(log, index)) {
            TransactionMarker marker = TransactionMarker.read(log, index);
            if (marker != null && !marker.commit()) {
                producers.remove(marker.producerId());
            }
            return false;
        }
        return !RecordBatch.isTransactional(log, index) || !producers.contains(RecordBatch.producerId(log, index));
    }
}
