package io.journalq.server.journal.segment;

import java.util.Arrays;

/**
 * The start offset of each leader epoch. A follower uses it to find where its log diverges from the leader's (KIP-101,
 * KIP-279). Only the journal's owner changes it. Any thread may read it, because each change creates a new value.
 */
public final class LeaderEpochs {
    /** The result if the requested epoch is unknown. */
    static final EpochEndOffset UNKNOWN = new EpochEndOffset(-1, -1L);

    private volatile Entries entries = Entries.NONE;

    /** The epochs of a log at one time and their start offsets, both ascending. */
    @SuppressWarnings("ArrayRecordComponent") // Nobody changes the arrays or compares the record.
    public record Entries(int[] epochs, long[] startOffsets) {
        /** Of a log without records. */
        public static final Entries NONE = new Entries(new int[0], new long[0]);

        public int count() {
            return epochs.length;
        }

        /** The newest epoch, or -1 if there is none. */
        public int latest() {
            return count() == 0 ? -1 : epochs[count() - 1];
        }

        /** Number of epochs that began before {@code offset}. */
        private int countBefore(long offset) {
            int count = count();
            while (count > 0 && startOffsets[count - 1] >= offset) {
                count--;
            }
            return count;
        }

        /** The epochs that began before {@code offset}. */
        public Entries before(long offset) {
            int count = countBefore(offset);
            return count == count()
                    ? this
                    : new Entries(Arrays.copyOf(epochs, count), Arrays.copyOf(startOffsets, count));
        }

        /** The epoch in which {@code offset} was written, or -1. */
        public int epochOf(long offset) {
            int found = -1;
            for (int i = 0; i < count() && startOffsets[i] <= offset; i++) {
                found = epochs[i];
            }
            return found;
        }

        /** The first epoch that began behind {@code offset}, or -1. */
        int epochAfter(long offset) {
            for (int i = 0; i < count(); i++) {
                if (startOffsets[i] > offset) {
                    return epochs[i];
                }
            }
            return -1;
        }

        /**
         * The largest epoch not above {@code epoch}, and the offset at which the next one began.
         *
         * @param endOffset where the newest epoch ends
         */
        public EpochEndOffset endOffsetOf(int epoch, long endOffset) {
            if (epoch < 0 || count() == 0 || epoch > epochs[count() - 1]) {
                return UNKNOWN;
            }
            if (epoch == epochs[count() - 1]) {
                return new EpochEndOffset(epoch, endOffset);
            }
            int higher = 0;
            while (epochs[higher] <= epoch) {
                higher++;
            }
            int responded = higher == 0 ? epoch : epochs[higher - 1];
            return new EpochEndOffset(responded, startOffsets[higher]);
        }
    }

    /** The epochs now; later changes create another value. Any thread. */
    public Entries entries() {
        return entries;
    }

    public void reset(Entries newEntries) {
        entries = newEntries;
    }

    /**
     * Records that {@code epoch} begins at {@code offset}. Does nothing unless the epoch is new. Epochs that began there
     * or later have no records, and are removed.
     */
    public void assign(int epoch, long offset) {
        Entries now = entries;
        if (epoch <= now.latest()) {
            return;
        }
        int count = now.countBefore(offset);
        int[] epochs = Arrays.copyOf(now.epochs, count + 1);
        long[] startOffsets = Arrays.copyOf(now.startOffsets, count + 1);
        epochs[count] = epoch;
        startOffsets[count] = offset;
        entries = new Entries(epochs, startOffsets);
    }

    /** Removes the epochs that began at or behind {@code endOffset}. */
    public void truncateTo(long endOffset) {
        entries = entries.before(endOffset);
    }

    /** Removes the epochs that ended before {@code startOffset}. The epoch of {@code startOffset} now begins there. */
    public void truncateBefore(long startOffset) {
        Entries now = entries;
        int first = 0;
        while (first + 1 < now.count() && now.startOffsets[first + 1] <= startOffset) {
            first++;
        }
        if (now.count() > 0 && now.startOffsets[first] < startOffset) {
            int[] epochs = Arrays.copyOfRange(now.epochs, first, now.count());
            long[] startOffsets = Arrays.copyOfRange(now.startOffsets, first, now.count());
            startOffsets[0] = startOffset;
            entries = new Entries(epochs, startOffsets);
        }
    }

    /**
     * Where a leader epoch ends.
     *
     * @param epoch the epoch that was found, which may be older than the requested one; -1 if unknown
     * @param endOffset the offset behind its last record; -1 if unknown
     */
    public record EpochEndOffset(int epoch, long endOffset) {}
}
