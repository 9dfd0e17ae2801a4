package io.journalq.chaos;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * What became of transactions, and which of their messages were found by a reader of committed records. Transaction
 * {@code t} of a producer holds its messages {@code t * SIZE} to {@code t * SIZE + SIZE - 1}, in several partitions. Any
 * thread.
 */
final class TransactionLedger {
    /** Messages in each transaction. */
    static final int SIZE = 6;

    private final Ledger ledger;
    private final Map<Integer, Story> stories = new HashMap<>();
    private final Map<String, Long> newest = new HashMap<>();
    private long committed;
    private long aborted;

    /** The transactions of one producer, by number. */
    private static final class Story {
        private final BitSet committed = new BitSet();
        private final BitSet aborted = new BitSet();
        /** As of the beginning of the reading. */
        private BitSet dueCommitted = new BitSet();

        private BitSet dueAborted = new BitSet();
        private BitSet found = new BitSet();
    }

    TransactionLedger(Ledger ledger) {
        this.ledger = ledger;
    }

    private Story story(int producer) {
        return stories.computeIfAbsent(producer, id -> new Story());
    }

    synchronized void onCommitted(int producer, int transaction) {
        story(producer).committed.set(transaction);
        committed++;
    }

    synchronized void onAborted(int producer, int transaction) {
        story(producer).aborted.set(transaction);
        aborted++;
    }

    /** Reading of committed records begins anew. */
    synchronized void beginReading() {
        for (Story story : stories.values()) {
            story.dueCommitted = (BitSet) story.committed.clone();
            story.dueAborted = (BitSet) story.aborted.clone();
            story.found = new BitSet();
        }
        newest.clear();
    }

    synchronized void onFound(String partition, long offset, byte[] value) {
        Payload payload = Payload.decode(value);
        String where = partition + " offset " + offset;
        if (payload == null) {
            ledger.report(where + " holds what nobody sent");
            return;
        }
        BitSet found = story(payload.producer()).found;
        Long before = newest.put(partition + " producer " + payload.producer(), payload.number());
        if (found.get((int) payload.number())) {
            ledger.report(where + " holds " + payload + " again");
        } else if (before != null && before > payload.number()) {
            ledger.report(where + " holds " + payload + " behind number " + before);
        }
        found.set((int) payload.number());
    }

    /**
     * All committed records were read.
     *
     * @param settled whether nobody was writing: then what is undecided must be there as a whole or not at all, too
     */
    synchronized void endReading(boolean settled) {
        stories.forEach((producer, story) -> {
            int length = Math.max(story.found.length(), story.dueCommitted.length() * SIZE);
            for (int transaction = 0; transaction * SIZE < length; transaction++) {
                int first = transaction * SIZE;
                int count = story.found.get(first, first + SIZE).cardinality();
                String wrong = judge(story, transaction, count, settled);
                if (wrong != null) {
                    ledger.report("transaction " + transaction + " of producer " + producer + " is " + wrong + ": "
                            + count + " of " + SIZE + " messages are there");
                }
            }
        });
    }

    private static String judge(Story story, int transaction, int count, boolean settled) {
        if (story.dueCommitted.get(transaction)) {
            return count < SIZE ? "committed and not whole" : null;
        }
        if (story.dueAborted.get(transaction)) {
            return count > 0 ? "aborted and seen" : null;
        }
        return settled && count > 0 && count < SIZE ? "torn" : null;
    }

    synchronized long committedCount() {
        return committed;
    }

    synchronized long abortedCount() {
        return aborted;
    }
}
