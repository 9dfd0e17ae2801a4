package io.journalq.server.transaction;

/** Tells partitions how a transaction ended. */
public interface Markers {
    /**
     * Has markers written to every partition of a transaction, and goes on trying; when all have theirs, calls {@link
     * TransactionMachine#onMarkersWritten}. Never on the call itself. May be asked again for the same transaction after a
     * restart: a partition keeps one marker.
     */
    void write(MarkerRequest request);
}
