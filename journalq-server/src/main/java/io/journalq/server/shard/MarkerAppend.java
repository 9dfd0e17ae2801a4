package io.journalq.server.shard;

import io.journalq.common.record.TransactionMarker;

/**
 * The end of a transaction on its way into one partition, and what became of it; as {@link Append}.
 *
 * <p>Once decided, {@link #error()} is NONE when the partition has the marker, as safe as its topic's delivery mode
 * demands; writing the same marker again then changes nothing and says the same. INVALID_PRODUCER_EPOCH: the producer has
 * gone on to a later epoch, this transaction is over and the marker is not needed. TRANSACTION_COORDINATOR_FENCED: a
 * coordinator of a later epoch has written a marker. KAFKA_STORAGE_ERROR and NOT_LEADER_OR_FOLLOWER: not written, try
 * again.
 */
public abstract class MarkerAppend extends Append {
    private final TransactionMarker marker;
    private final short transactionVersion;

    /**
     * Prepares a marker's append.
     *
     * @param transactionVersion generation of the protocol in which the transaction ended: from 2 on the marker's epoch is
     *     one more than that of the transaction's records (KIP-890), before it is at least that
     */
    protected MarkerAppend(TransactionMarker marker, short transactionVersion) {
        super(null, 0);
        this.marker = marker;
        this.transactionVersion = transactionVersion;
    }

    /** What is written. */
    public final TransactionMarker marker() {
        return marker;
    }

    final short transactionVersion() {
        return transactionVersion;
    }
}
