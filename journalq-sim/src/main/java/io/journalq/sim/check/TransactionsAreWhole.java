package io.journalq.sim.check;

import io.journalq.sim.workload.LogReader;
import io.journalq.sim.workload.PartitionHistory;
import io.journalq.sim.workload.ReadBack;
import io.journalq.sim.workload.SentRecord;
import io.journalq.sim.workload.SentTransaction;
import io.journalq.sim.world.Violations;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * No transaction is torn: it is not committed in one partition and aborted in another, nor committed when nobody asked for
 * that, nor ended otherwise than its producer was told.
 */
public final class TransactionsAreWhole {
    private static final String INVARIANT = "TransactionsAreWhole";

    private final Violations violations;
    private final Set<String> committed = new HashSet<>();
    private final Set<String> aborted = new HashSet<>();

    public TransactionsAreWhole(Violations violations) {
        this.violations = violations;
    }

    /** Reads the ends of transactions out of the logs, and holds them against what their producer knows. */
    public void check(List<ReadBack> readings, List<SentTransaction> transactions) {
        committed.clear();
        aborted.clear();
        readings.forEach(this::sort);
        for (SentTransaction transaction : transactions) {
            check(transaction);
        }
    }

    /** Records by the marker behind them; those of open transactions are neither. */
    private void sort(ReadBack reading) {
        if (reading.partition().plan().isCompacted()) {
            return; // Markers may have gone while it was read, with all that they ended.
        }
        Map<Long, List<String>> open = new HashMap<>();
        List<LogReader.Found> all = new ArrayList<>(reading.records());
        all.addAll(reading.markers());
        all.sort(Comparator.comparingLong(LogReader.Found::offset));
        for (LogReader.Found record : all) {
            if (record.offset() < reading.logStartOffset()) {
                continue; // The markers behind it may have gone with it.
            }
            if (record.isMarker()) {
                List<String> ended = open.remove(record.producerId());
                if (ended != null) {
                    (record.commits() ? committed : aborted).addAll(ended);
                }
            } else if (record.isTransactional()) {
                open.computeIfAbsent(record.producerId(), none -> new ArrayList<>())
                        .add(record.id());
            }
        }
    }

    private void check(SentTransaction transaction) {
        String somewhereCommitted = null;
        String somewhereAborted = null;
        for (Map.Entry<PartitionHistory, List<SentRecord>> entry :
                transaction.records().entrySet()) {
            for (SentRecord record : entry.getValue()) {
                if (committed.contains(record.id())) {
                    somewhereCommitted = record.id() + " in " + entry.getKey();
                }
                if (aborted.contains(record.id())) {
                    somewhereAborted = record.id() + " in " + entry.getKey();
                }
            }
        }
        if (somewhereCommitted != null && (somewhereAborted != null || !transaction.mayBeCommitted())) {
            violations.report(
                    INVARIANT,
                    transaction + ": committed is " + somewhereCommitted + ", aborted is " + somewhereAborted);
        }
        if ((transaction.isCommitted() && somewhereAborted != null)
                || (transaction.isAborted() && somewhereCommitted != null)) {
            violations.report(INVARIANT, transaction + ", but " + somewhereCommitted + somewhereAborted);
        }
    }
}
