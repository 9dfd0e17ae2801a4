package io.journalq.server.shard.append;

import io.journalq.common.record.TransactionMarker;

/**
 * The end of a transaction on its way into one partition, and its outcome; as {@link Append}. A marker is also written for a
 * producer that wrote nothing here.
 *
 * <p>Once decided, {@link #error()} says:
 *
 * <ul>
 *   <li>NONE: the partition has the marker, as safe as its topic's delivery mode demands. Writing the same marker again
 *       then changes nothing and has the same outcome.
 *   <li>INVALID_PRODUCER_EPOCH: the producer has a later epoch. This transaction is over and the marker is not needed.
 *   <li>TRANSACTION_COORDINATOR_FENCED: a coordinator of a later epoch has written a marker.
 *   <li>KAFKA_STORAGE_ERROR and NOT_LEADER_OR_FOLLOWER: not written, try again.
 * </ul>
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

    /** The marker to write. */
    public final TransactionMarker marker() {
        return marker;
    }

    final short transactionVersion() {
        return transactionVersion;
    }
}
