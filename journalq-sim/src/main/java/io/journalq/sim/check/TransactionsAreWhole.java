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
 * its producer asked for that, and ends as its producer was told. After a restart, each partition soon gets the marker
 * of what was decided.
 */
public final class TransactionsAreWhole {
    private static final String INVARIANT = "TransactionsAreWhole";

    private final Violations violations;
    private final Set<String> committed = new HashSet<>();
    private final Set<String> aborted = new HashSet<>();
    private final Set<String> open = new HashSet<>();

    public TransactionsAreWhole(Violations violations) {
        this.violations = violations;
    }

    /** Compares the markers in the logs with what the producers know. */
    public void check(List<LogReader.Reading> readings, List<SentTransaction> transactions) {
        collect(readings);
        for (SentTransaction transaction : transactions) {
            check(transaction);
        }
    }

    /** Whether no record is of an open transaction whose producer was told that it has ended. */
    public boolean haveEnded(List<LogReader.Reading> readings, List<SentTransaction> transactions) {
        collect(readings);
        return transactions.stream().noneMatch(this::lacksMarker);
    }

    /** Reports the transactions that have not ended, as of the last readings. */
    public void checkEnded(List<SentTransaction> transactions) {
        transactions.stream()
                .filter(this::lacksMarker)
                .forEach(transaction -> violations.report(INVARIANT, transaction + " is still open after a restart"));
    }

    private boolean lacksMarker(SentTransaction transaction) {
        return (transaction.isCommitted() || transaction.isAborted())
                && transaction.places().keySet().stream().anyMatch(open::contains);
    }

    private void collect(List<LogReader.Reading> readings) {
        committed.clear();
        aborted.clear();
        open.clear();
        readings.forEach(this::collect);
    }

    /** Collects the records of committed, of aborted and of open transactions. */
    private void collect(LogReader.Reading reading) {
        Map<Long, List<String>> begun = new HashMap<>();
        for (LogReader.Found record : reading.all()) {
            if (record.isMarker()) {
                List<String> ended = begun.remove(record.producerId());
                if (ended != null) {
                    (record.commits() ? committed : aborted).addAll(ended);
                }
            } else if (record.isTransactional()) {
                begun.computeIfAbsent(record.producerId(), none -> new ArrayList<>())
                        .add(record.id());
            }
        }
        begun.values().forEach(open::addAll);
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
