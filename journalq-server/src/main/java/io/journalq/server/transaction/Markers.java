package io.journalq.server.transaction;

/** Writes the markers of decided transactions. */
public interface Markers {
    /**
     * Writes markers to every partition of a transaction, with retries. When all partitions have theirs, calls
     * {@link TransactionMachine#onMarkersWritten}, but never during this call. May be called again for the same
     * transaction after a restart: a partition keeps only one marker.
     */
    void write(MarkerRequest request);
}
