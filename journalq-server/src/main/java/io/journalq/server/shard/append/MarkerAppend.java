package io.journalq.server.shard.append;

import io.journalq.common.record.TransactionMarker;

/**
 * The append of a transaction marker to one partition, and its outcome; see {@link Append}. A marker is also written
 * for a producer that wrote nothing to the partition.
 *
 * <p>When the append is decided, {@link #error()} is one of:
 *
 * <ul>
 *   <li>NONE: the partition has the marker, as safe as its topic's delivery mode demands. Writing the same marker again
 *       then changes nothing and has the same outcome.
 *   <li>INVALID_PRODUCER_EPOCH: the producer has a later epoch. This transaction has ended and the marker is not
 *       needed.
 *   <li>TRANSACTION_COORDINATOR_FENCED: a coordinator with a later epoch has written a marker.
 *   <li>KAFKA_STORAGE_ERROR and NOT_LEADER_OR_FOLLOWER: not written; retry.
 * </ul>
 */
public abstract class MarkerAppend extends Append {
    private final TransactionMarker marker;
    private final short transactionVersion;

    /**
     * Prepares a marker's append.
     *
     * @param transactionVersion the transaction version of the transaction's end. From 2 on, the marker's epoch is one
     *     more than that of the transaction's records (KIP-890); before, it is at least that epoch
     */
    protected MarkerAppend(TransactionMarker marker, short transactionVersion) {
        super(null, 0);
        this.marker = marker;
        this.transactionVersion = transactionVersion;
    }

    /** The marker to write. */
    public final TransactionMarker marker() {
        return marker;
    }

    final short transactionVersion() {
        return transactionVersion;
    }
}
