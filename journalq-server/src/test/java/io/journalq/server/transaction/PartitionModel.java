package io.journalq.server.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.producerstate.EndedTransaction;
import io.journalq.server.producerstate.PartitionTransactions;
import io.journalq.server.producerstate.PartitionTransactions.MarkerVerdict;
import io.journalq.server.producerstate.ProducerDedup;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A partition with the very state that the broker keeps of its producers and transactions, one record a batch, and what
 * its readers of committed records are shown.
 *
 * @param <T> what records are of
 */
final class PartitionModel<T> {
    private static final long NOW_MS = 0;

    private final TransactionBug bug;

    private final ProducerDedup producers = new ProducerDedup();
    private final PartitionTransactions transactions = new PartitionTransactions(producers);

    /** What the record at each offset is of; null for a marker. */
    private final List<T> records = new ArrayList<>();

    private final List<Long> producerIds = new ArrayList<>();
    private final List<EndedTransaction> aborted = new ArrayList<>();
    private final Map<Long, Written> newestByProducer = new TreeMap<>();

    private record Written(short epoch, int sequence) {}

    PartitionModel(TransactionBug bug) {
        this.bug = bug;
    }

    /** Appends a record that the coordinator admitted; whether the partition took it. */
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

    /** Appends a marker; whether it ended a transaction. */
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

    /** What readers of committed records are shown, in order. */
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

    /** All records, of whatever outcome. */
    List<T> written() {
        return records.stream().filter(record -> record != null).toList();
    }
}
