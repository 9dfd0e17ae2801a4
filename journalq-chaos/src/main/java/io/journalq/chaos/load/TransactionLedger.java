package io.journalq.chaos.load;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Records the outcomes of transactions, and compares them with what a reader of committed records finds. Transaction
 * {@code t} of a producer consists of its messages {@code t * SIZE} to {@code t * SIZE + SIZE - 1}, in several
 * partitions. Any thread.
 */
public final class TransactionLedger {
    /** Messages in each transaction. */
    public static final int SIZE = 6;

    /** Begins each finding. */
    private static final String PROMISE = "TransactionsAreWhole: ";

    private final Ledger ledger;
    private final Map<Integer, Outcomes> outcomesByProducer = new HashMap<>();
    private final Map<String, Long> newest = new HashMap<>();
    private long committed;
    private long aborted;

    /** Outcomes of the transactions of one producer, by transaction number. */
    private static final class Outcomes {
        private final BitSet committed = new BitSet();
        private final BitSet aborted = new BitSet();
        /** The outcomes that were known when reading began. */
        private BitSet dueCommitted = new BitSet();

        private BitSet dueAborted = new BitSet();
        private BitSet found = new BitSet();
    }

    public TransactionLedger(Ledger ledger) {
        this.ledger = ledger;
    }

    private Outcomes outcomes(int producer) {
        return outcomesByProducer.computeIfAbsent(producer, id -> new Outcomes());
    }

    public synchronized void onCommitted(int producer, int transaction) {
        outcomes(producer).committed.set(transaction);
        committed++;
    }

    public synchronized void onAborted(int producer, int transaction) {
        outcomes(producer).aborted.set(transaction);
        aborted++;
    }

    /** Begins a new reading of committed records. */
    public synchronized void beginReading() {
        for (Outcomes outcomes : outcomesByProducer.values()) {
            outcomes.dueCommitted = (BitSet) outcomes.committed.clone();
            outcomes.dueAborted = (BitSet) outcomes.aborted.clone();
            outcomes.found = new BitSet();
        }
        newest.clear();
    }

    public synchronized void onFound(String partition, long offset, byte[] value) {
        Payload payload = Payload.decode(value);
        String where = partition + " offset " + offset;
        if (payload == null) {
            ledger.report(PROMISE + where + " holds a record that no producer sent");
            return;
        }
        BitSet found = outcomes(payload.producer()).found;
        Long before = newest.put(partition + " producer " + payload.producer(), payload.number());
        if (found.get((int) payload.number())) {
            ledger.report(PROMISE + where + " holds a duplicate of " + payload);
        } else if (before != null && before > payload.number()) {
            ledger.report(PROMISE + where + " holds " + payload + " after number " + before);
        }
        found.set((int) payload.number());
    }

    /**
     * Ends a reading, which has read all committed records.
     *
     * @param settled whether no producer was writing. Transactions with an unknown outcome must then be complete or
     *     absent as well.
     */
    public synchronized void endReading(boolean settled) {
        outcomesByProducer.forEach((producer, outcomes) -> {
            int length = Math.max(outcomes.found.length(), outcomes.dueCommitted.length() * SIZE);
            for (int transaction = 0; transaction * SIZE < length; transaction++) {
                int first = transaction * SIZE;
                int count = outcomes.found.get(first, first + SIZE).cardinality();
                String wrong = judge(outcomes, transaction, count, settled);
                if (wrong != null) {
                    ledger.report(PROMISE + "transaction " + transaction + " of producer " + producer + " is " + wrong
                            + ": " + count + " of " + SIZE + " messages were found");
                }
            }
        });
    }

    private static String judge(Outcomes outcomes, int transaction, int count, boolean settled) {
        if (outcomes.dueCommitted.get(transaction)) {
            return count < SIZE ? "committed but incomplete" : null;
        }
        if (outcomes.dueAborted.get(transaction)) {
            return count > 0 ? "aborted but visible" : null;
        }
        return settled && count > 0 && count < SIZE ? "torn" : null;
    }

    public synchronized long committedCount() {
        return committed;
    }

    public synchronized long abortedCount() {
        return aborted;
    }
}
