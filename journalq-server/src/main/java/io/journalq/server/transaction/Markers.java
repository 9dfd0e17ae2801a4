package io.journalq.server.transaction;

import io.journalq.common.id.TopicPartition;
import java.util.List;

/** Writes the markers of decided transactions. */
public interface Markers {
    /**
     * Writes markers to every partition of a transaction, with retries. When all partitions have theirs, calls
     * {@link TransactionMachine#onMarkersWritten}, but never during this call. May be called again for the same
     * transaction after a restart: a partition keeps only one marker.
     */
    void write(MarkerRequest request);

    /**
     * A decided transaction whose markers have to be written.
     *
     * @param transactionalId of the transaction
     * @param producerId the transaction's producer
     * @param producerEpoch the epoch of the markers; not lower than the epoch of the records
     * @param commit true for commit, false for abort
     * @param transactionVersion 2 if the epoch was incremented with the decision (KIP-890), less otherwise
     * @param partitions the partitions, at least one
     */
    public record MarkerRequest(
            String transactionalId,
            long producerId,
            short producerEpoch,
            boolean commit,
            short transactionVersion,
            List<TopicPartition> partitions) {}
}
