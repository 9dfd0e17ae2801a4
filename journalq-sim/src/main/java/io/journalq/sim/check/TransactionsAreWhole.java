package io.journalq.sim.check;

import io.journalq.sim.workload.LogReader;
import io.journalq.sim.workload.SentTransaction;
import io.journalq.sim.world.Violations;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Transactions are atomic: a transaction is not committed in one partition and aborted in another, is committed only if
 * its producer asked for that, and ends as its producer was told.
 */
public final class TransactionsAreWhole {
    private static final String INVARIANT = "TransactionsAreWhole";

    private final Violations violations;
    private final Set<String> committed = new HashSet<>();
    private final Set<String> aborted = new HashSet<>();

    public TransactionsAreWhole(Violations violations) {
        this.violations = violations;
    }

    /** Compares the markers in the logs with what the producers know. */
    public void check(List<LogReader.Reading> readings, List<SentTransaction> transactions) {
        committed.clear();
        aborted.clear();
        readings.forEach(this::collect);
        for (SentTransaction transaction : transactions) {
            check(transaction);
        }
    }

    /**
     * Collects the records of committed and of aborted transactions. Records of open transactions are in neither set.
     */
    private void collect(LogReader.Reading reading) {
        Map<Long, List<String>> open = new HashMap<>();
        for (LogReader.Found record : reading.all()) {
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
        String someCommitted = null;
        String someAborted = null;
        for (Map.Entry<String, String> record : transaction.places().entrySet()) {
            if (committed.contains(record.getKey())) {
                someCommitted = record.getKey() + " in " + record.getValue();
            }
            if (aborted.contains(record.getKey())) {
                someAborted = record.getKey() + " in " + record.getValue();
            }
        }
        if (someCommitted != null && (someAborted != null || !transaction.mayBeCommitted())) {
            violations.report(
                    INVARIANT, transaction + ": committed record " + someCommitted + ", aborted record " + someAborted);
        }
        if ((transaction.isCommitted() && someAborted != null) || (transaction.isAborted() && someCommitted != null)) {
            violations.report(
                    INVARIANT, transaction + ": committed record " + someCommitted + ", aborted record " + someAborted);
        }
    }
}
