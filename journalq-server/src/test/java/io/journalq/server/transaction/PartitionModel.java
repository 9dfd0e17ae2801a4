package io.journalq.server.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.producerstate.PartitionTransactions;
import io.journalq.server.producerstate.PartitionTransactions.EndedTransaction;
import io.journalq.server.producerstate.PartitionTransactions.MarkerVerdict;
import io.journalq.server.producerstate.ProducerDedup;
import io.journalq.server.transaction.Markers.MarkerRequest;
import io.journalq.server.transaction.TransactionMachine.ProducerClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A partition with the broker's own state of producers and transactions, one record in each batch, and the records that
 * its read-committed consumers see.
 *
 * @param <T> identifies the transaction of a record
 */
final class PartitionModel<T> {
    private static final long NOW_MS = 0;

    private final TransactionBug bug;

    private final ProducerDedup producers = new ProducerDedup();
    private final PartitionTransactions transactions = new PartitionTransactions(producers);

    /** The transaction of the record at each offset; null for a marker. */
    private final List<T> records = new ArrayList<>();

    private final List<Long> producerIds = new ArrayList<>();
    private final List<EndedTransaction> aborted = new ArrayList<>();
    private final Map<Long, Written> newestByProducer = new TreeMap<>();

    private record Written(short epoch, int sequence) {}

    PartitionModel(TransactionBug bug) {
        this.bug = bug;
    }

    /** Appends a record that the coordinator admitted; returns whether the partition accepted it. */
    boolean write(ProducerClaim claim, T transaction) {
        long producerId = claim.producerId();
        short epoch = claim.producerEpoch();
        Written newest = newestByProducer.get(producerId);
        int sequence = newest == null || newest.epoch() != epoch ? 0 : newest.sequence() + 1;
        if (producers.check(producerId, epoch, sequence, 1) != ProducerDedup.Verdict.APPEND
                || transactions.checkBatch(producerId, true, true) != ErrorCode.NONE) {
            return false;
        }
        int offset = records.size();
        producers.replay(producerId, epoch, sequence, 1, offset, -1, NOW_MS);
        transactions.replayBatch(producerId, offset, NOW_MS);
        newestByProducer.put(producerId, new Written(epoch, sequence));
        append(transaction, producerId);
        return true;
    }

    /** Appends a marker; returns whether it ended a transaction. */
    boolean mark(MarkerRequest request) {
        TransactionMarker marker =
                new TransactionMarker(request.producerId(), request.producerEpoch(), request.commit(), 0);
        MarkerVerdict verdict = transactions.check(marker, request.transactionVersion());
        if (verdict == MarkerVerdict.REPEATED) {
            return bug == TransactionBug.WRITES_A_MARKER_AGAIN;
        }
        assertThat(verdict).isEqualTo(MarkerVerdict.APPEND);
        EndedTransaction ended = transactions.replayMarker(marker, records.size(), NOW_MS);
        append(null, request.producerId());
        if (ended != null && !ended.commit() && bug != TransactionBug.SHOWS_ABORTED_RECORDS) {
            aborted.add(ended);
        }
        return ended != null;
    }

    private void append(T transaction, long producerId) {
        records.add(transaction);
        producerIds.add(producerId);
        transactions.onHighWatermark(records.size());
    }

    /** The records that read-committed consumers see, in order. */
    List<T> committed() {
        List<T> shown = new ArrayList<>();
        long stable = bug == TransactionBug.SHOWS_OPEN_TRANSACTIONS
                ? records.size()
                : Math.min(records.size(), transactions.firstUnstableOffset());
        for (int offset = 0; offset < stable; offset++) {
            if (records.get(offset) != null && !isAborted(offset)) {
                shown.add(records.get(offset));
            }
        }
        return shown;
    }

    private boolean isAborted(int offset) {
        for (EndedTransaction one : aborted) {
            if (one.producerId() == producerIds.get(offset)
                    && offset >= one.firstOffset()
                    && offset <= one.markerOffset()) {
                return true;
            }
        }
        return false;
    }

    /** All records, whatever their transaction's outcome. */
    List<T> written() {
        return records.stream().filter(record -> record != null).toList();
    }
}
