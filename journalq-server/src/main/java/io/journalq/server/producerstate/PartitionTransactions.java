package io.journalq.server.producerstate;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.TransactionMarker;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The transactions of one partition: which ones have records there but no marker, and therefore the last stable offset.
 * Checks batches of transactions and the markers that end them. The state of each producer is stored in
 * {@link ProducerDedup}.
 *
 * <p>Pure and single-threaded: the {@code check} methods change nothing, {@code replay} methods change the state, live
 * and in recovery alike. Bounded by {@link #MAX_OPEN_TRANSACTIONS}. The state that markers above the high watermark
 * replaced is kept until {@link #onHighWatermark} passes them, so that {@link #truncateTo} can restore it.
 *
 * <p>Source: KIP-98, KIP-890, KIP-1228.
 */
public final class PartitionTransactions {
    /**
     * Maximum number of open transactions in one partition; more must wait. Well below
     * {@link ProducerDedup#MAX_PRODUCERS}.
     */
    public static final int MAX_OPEN_TRANSACTIONS = 5_000;

    /** Offset if no transaction is open. */
    public static final long NONE = Long.MAX_VALUE;

    /** From this transaction version on, the epoch is incremented with every transaction (KIP-890). */
    private static final short FIRST_VERSION_WITH_GROWING_EPOCHS = 2;

    /** Shared and always empty. */
    private static final Deque<Replaced> NONE_REPLACED = new ArrayDeque<>(0);

    private final ProducerDedup producers;
    /** Like the next two fields, created with the first transaction: most partitions never have one. */
    private NavigableMap<Long, UnfinishedTransaction> openByFirstOffset = Collections.emptyNavigableMap();

    /** Ended transactions whose marker is not below the high watermark: offset of the marker by first offset. */
    private NavigableMap<Long, Long> endingByFirstOffset = Collections.emptyNavigableMap();

    /** The state replaced by markers that are not below the high watermark, in the order of the markers. */
    private Deque<Replaced> replaced = NONE_REPLACED;

    private long repeatedMarkerOffset;

    /** Verifications that began before this are outdated: another broker has led the partition since then. */
    private long verifiableFrom;

    /** How to handle a marker. */
    public enum MarkerVerdict {
        /** Append it, then call {@link PartitionTransactions#replayMarker}. */
        APPEND(ErrorCode.NONE),
        /**
         * It is already at {@link PartitionTransactions#repeatedMarkerOffset}, and the producer has written nothing
         * since then.
         */
        REPEATED(ErrorCode.NONE),
        /** The producer has a later epoch, so this marker is not for its transaction. */
        FENCED(ErrorCode.INVALID_PRODUCER_EPOCH),
        /** A later coordinator has written a marker. */
        COORDINATOR_FENCED(ErrorCode.TRANSACTION_COORDINATOR_FENCED);

        private final ErrorCode error;

        MarkerVerdict(ErrorCode error) {
            this.error = error;
        }

        public ErrorCode error() {
            return error;
        }
    }

    /**
     * The state of a producer before a marker.
     *
     * @param before null if the producer was unknown
     */
    private record Replaced(long markerOffset, long producerId, ProducerState before) {}

    /** Creates the transactions of the producers in {@code producers}; both process the same batches. */
    public PartitionTransactions(ProducerDedup producers) {
        this.producers = producers;
    }

    // ---- batches of producers

    /**
     * Checks a producer's batch that is in order.
     *
     * @param producerId 0 or more
     * @param admitted whether the transaction's coordinator confirmed that the partition is part of it (KIP-890)
     * @return {@link ErrorCode#NONE}; INVALID_TXN_STATE for a non-transactional batch during a transaction, or a
     *     transactional batch without a transaction; NOT_ENOUGH_REPLICAS, which producers retry, if too many
     *     transactions are open
     */
    public ErrorCode checkBatch(long producerId, boolean transactional, boolean admitted) {
        if (!transactional && openByFirstOffset.isEmpty()) {
            return ErrorCode.NONE;
        }
        ProducerState known = producers.statesById().get(producerId);
        boolean open = known != null && known.transaction() != null;
        if (!transactional) {
            return open ? ErrorCode.INVALID_TXN_STATE : ErrorCode.NONE;
        }
        if (!admitted) {
            return ErrorCode.INVALID_TXN_STATE;
        }
        return open || openByFirstOffset.size() < MAX_OPEN_TRANSACTIONS
                ? ErrorCode.NONE
                : ErrorCode.NOT_ENOUGH_REPLICAS;
    }

    /**
     * Whether the transaction of a batch cannot have ended since its verification began.
     *
     * @param guard from {@link VerificationGuards#guard}, taken before the coordinator was asked
     */
    public boolean isVerified(long producerId, long guard) {
        if (isOutdated(guard)) {
            return false;
        }
        ProducerState known = producers.statesById().get(producerId);
        return known == null || known.lastMarkerNumber() <= guard;
    }

    /** Whether a verification began before this broker led the partition, so that other brokers may have written markers. */
    public boolean isOutdated(long guard) {
        return guard < verifiableFrom;
    }

    /**
     * This broker begins to lead the partition.
     *
     * @param number from {@link VerificationGuards#onMarker}
     */
    public void onLeading(long number) {
        verifiableFrom = number;
    }

    /**
     * Applies a batch of a transaction, after {@link ProducerDedup#replay}. The first batch starts the transaction
     * here.
     */
    public void replayBatch(long producerId, long baseOffset, long nowMs) {
        ProducerState state = producers.stateFor(producerId);
        if (state.transaction() == null) {
            open(state, new UnfinishedTransaction(producerId, baseOffset, nowMs));
        }
    }

    void open(ProducerState state, UnfinishedTransaction transaction) {
        state.setTransaction(transaction);
        putOpen(transaction);
    }

    // ---- markers

    /**
     * Checks a marker. A marker for a producer without an open transaction is appended too, because it fences late
     * batches with an older epoch. Only a marker that would change nothing at all is not appended.
     *
     * @param transactionVersion the transaction version in which the transaction ended
     */
    public MarkerVerdict check(TransactionMarker marker, short transactionVersion) {
        ProducerState known = producers.statesById().get(marker.producerId());
        if (known == null) {
            return MarkerVerdict.APPEND;
        }
        if (marker.producerEpoch() < known.epoch()) {
            return MarkerVerdict.FENCED;
        }
        if (marker.coordinatorEpoch() < known.coordinatorEpoch()) {
            return MarkerVerdict.COORDINATOR_FENCED;
        }
        boolean sameEpoch = marker.producerEpoch() == known.epoch();
        boolean open = known.transaction() != null;
        if (sameEpoch && open && transactionVersion >= FIRST_VERSION_WITH_GROWING_EPOCHS) {
            // The producer is already in its next transaction: this marker ended the previous one.
            return MarkerVerdict.FENCED;
        }
        boolean changesNothing = sameEpoch
                && !open
                && known.endsWithMarker()
                && known.lastMarkerCommit() == marker.commit()
                && known.coordinatorEpoch() == marker.coordinatorEpoch();
        if (changesNothing) {
            repeatedMarkerOffset = known.lastMarkerOffset();
            return MarkerVerdict.REPEATED;
        }
        return MarkerVerdict.APPEND;
    }

    /** Offset of the existing marker that the last {@link #check} found. */
    public long repeatedMarkerOffset() {
        return repeatedMarkerOffset;
    }

    /**
     * Applies a marker of the journal.
     *
     * @param nowMs when it was appended, or the time of recovery; for expiry
     * @return the transaction that it ended; null if there was none
     */
    public EndedTransaction replayMarker(TransactionMarker marker, long offset, long nowMs) {
        ProducerState before = producers.statesById().get(marker.producerId());
        if (replaced == NONE_REPLACED) {
            replaced = new ArrayDeque<>();
        }
        replaced.add(new Replaced(offset, marker.producerId(), before == null ? null : before.copy()));
        ProducerState state = producers.stateFor(marker.producerId());
        UnfinishedTransaction open = state.transaction();
        state.use(nowMs);
        state.end(marker.producerEpoch(), marker.coordinatorEpoch(), offset, marker.commit());
        if (open == null) {
            return null;
        }
        openByFirstOffset.remove(open.firstOffset());
        if (!(endingByFirstOffset instanceof TreeMap)) {
            endingByFirstOffset = new TreeMap<>();
        }
        endingByFirstOffset.put(open.firstOffset(), offset);
        long stableOffset = openByFirstOffset.isEmpty() ? offset + 1 : openByFirstOffset.firstKey();
        return new EndedTransaction(marker.producerId(), open.firstOffset(), offset, stableOffset, marker.commit());
    }

    /**
     * Notes that a marker was appended, or was already there: verifications that began before it are outdated. Markers
     * with a growing epoch fence late batches by that epoch, so that the producer's next transaction need not wait for
     * them.
     *
     * @param number from {@link VerificationGuards#onMarker}
     */
    public void onMarker(long producerId, short transactionVersion, long number) {
        if (transactionVersion < FIRST_VERSION_WITH_GROWING_EPOCHS) {
            producers.stateFor(producerId).onMarker(number);
        }
    }

    // ---- offsets

    /**
     * First offset of the oldest transaction that is open, or whose marker is not below the high watermark yet;
     * {@link #NONE} if there is none.
     */
    public long firstUnstableOffset() {
        long open = openByFirstOffset.isEmpty() ? NONE : openByFirstOffset.firstKey();
        return endingByFirstOffset.isEmpty() ? open : Math.min(open, endingByFirstOffset.firstKey());
    }

    /** The high watermark has advanced to {@code offset}: markers before it are final. */
    public void onHighWatermark(long offset) {
        while (!replaced.isEmpty() && replaced.peek().markerOffset() < offset) {
            replaced.poll();
        }
        Iterator<Long> markers = endingByFirstOffset.values().iterator();
        while (markers.hasNext() && markers.next() < offset) {
            markers.remove();
        }
    }

    /**
     * Discards all state from {@code offset} on, which the journal has lost, including the batches of
     * {@link ProducerDedup}.
     *
     * @param offset not below the high watermark
     */
    public void truncateTo(long offset) {
        while (!replaced.isEmpty() && replaced.peekLast().markerOffset() >= offset) {
            Replaced last = replaced.pollLast();
            if (last.before() == null) {
                producers.forget(last.producerId());
                continue;
            }
            producers.restore(last.producerId(), last.before());
            UnfinishedTransaction open = last.before().transaction();
            if (open != null) {
                putOpen(open);
                if (!endingByFirstOffset.isEmpty()) {
                    endingByFirstOffset.remove(open.firstOffset());
                }
            }
        }
        for (UnfinishedTransaction lost :
                openByFirstOffset.tailMap(offset, true).values()) {
            ProducerState state = producers.statesById().get(lost.producerId());
            // An earlier transaction of the producer can be open again.
            if (state != null && lost.equals(state.transaction())) {
                state.setTransaction(null);
            }
        }
        if (!openByFirstOffset.isEmpty()) {
            openByFirstOffset.tailMap(offset, true).clear();
        }
        producers.truncateTo(offset);
    }

    private void putOpen(UnfinishedTransaction open) {
        if (!(openByFirstOffset instanceof TreeMap)) {
            openByFirstOffset = new TreeMap<>();
        }
        openByFirstOffset.put(open.firstOffset(), open);
    }

    /** Number of open transactions. */
    public int openCount() {
        return openByFirstOffset.size();
    }

    /** Number of transactions that were started here more than {@code ageMs} ago and are still open. */
    public int openLongerThan(long ageMs, long nowMs) {
        int count = 0;
        for (UnfinishedTransaction open : openByFirstOffset.values()) {
            if (nowMs - open.startedMs() > ageMs) {
                count++;
            }
        }
        return count;
    }

    /** All producers that the partition knows, the least recently used one first. */
    public List<KnownProducer> knownProducers() {
        List<KnownProducer> known = new ArrayList<>(producers.producerCount());
        producers.statesById().forEach((producerId, state) -> {
            UnfinishedTransaction open = state.transaction();
            known.add(new KnownProducer(
                    producerId,
                    state.epoch(),
                    state.lastSequence(),
                    state.lastUsedMs(),
                    state.coordinatorEpoch(),
                    open == null ? ProducerState.NO_OFFSET : open.firstOffset()));
        });
        return known;
    }

    /** The producers of these transactions. */
    public ProducerDedup producers() {
        return producers;
    }

    /**
     * A transaction of a partition that has ended.
     *
     * @param producerId of its producer
     * @param firstOffset of its first record
     * @param markerOffset of its marker
     * @param lastStableOffset after this transaction ended: every transaction that began before this offset had ended
     * @param commit true for commit, false for abort
     */
    public record EndedTransaction(
            long producerId, long firstOffset, long markerOffset, long lastStableOffset, boolean commit) {}

    /**
     * A producer that a partition knows.
     *
     * @param lastSequence of its last record; -1 if unknown
     * @param lastUsedMs when it last wrote here, in milliseconds since 1970 UTC
     * @param coordinatorEpoch of the last marker; -1 if there was none
     * @param transactionFirstOffset first offset of its open transaction; -1 if there is none
     */
    public record KnownProducer(
            long producerId,
            short epoch,
            int lastSequence,
            long lastUsedMs,
            int coordinatorEpoch,
            long transactionFirstOffset) {}

    /**
     * A transaction that has records in a partition and no marker there yet.
     *
     * @param producerId of its producer
     * @param firstOffset of its first record here
     * @param startedMs when that record was appended, in milliseconds since 1970 UTC
     */
    public record UnfinishedTransaction(long producerId, long firstOffset, long startedMs) {}
}
