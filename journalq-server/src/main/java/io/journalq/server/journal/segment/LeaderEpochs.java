package io.journalq.server.journal.segment;

import java.util.Arrays;

/**
 * At which offset each leader's epoch began: what a follower asks for to find where its log parts from the leader's
 * (KIP-101, KIP-279). Changed by the journal's owner; any thread may look up, as each change is a new value.
 */
public final class LeaderEpochs {
    /** The answer when nothing is known of the epoch that was asked for. */
    static final EpochEndOffset UNKNOWN = new EpochEndOffset(-1, -1L);

    private static final Entries NONE = new Entries(new int[0], new long[0]);

    private volatile Entries entries = NONE;

    @SuppressWarnings("ArrayRecordComponent") // A plain holder, never compared.
    public record Entries(int[] epochs, long[] startOffsets) {
        public int count() {
            return epochs.length;
        }
    }

    public Entries entries() {
        return entries;
    }

    public void reset(Entries newEntries) {
        entries = newEntries;
    }

    /** The newest epoch, or -1 when there is none. */
    public int latest() {
        Entries now = entries;
        return now.count() == 0 ? -1 : now.epochs[now.count() - 1];
    }

    /** Notes that a batch of {@code epoch} begins at {@code offset}; nothing happens unless the epoch is new. */
    public void assign(int epoch, long offset) {
        if (epoch <= latest()) {
            return;
        }
        Entries now = entries;
        int count = now.count();
        int[] epochs = Arrays.copyOf(now.epochs, count + 1);
        long[] startOffsets = Arrays.copyOf(now.startOffsets, count + 1);
        epochs[count] = epoch;
        startOffsets[count] = offset;
        entries = new Entries(epochs, startOffsets);
    }

    /** Forgets what began at or behind {@code endOffset}. */
    public void truncateTo(long endOffset) {
        Entries now = entries;
        int kept = now.count();
        while (kept > 0 && now.startOffsets[kept - 1] >= endOffset) {
            kept--;
        }
        if (kept < now.count()) {
            entries = new Entries(Arrays.copyOf(now.epochs, kept), Arrays.copyOf(now.startOffsets, kept));
        }
    }

    /** Forgets what ended before {@code startOffset}; the epoch in force there begins there. */
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

    /** The epoch in which {@code offset} was written, or -1. */
    public int epochOf(long offset) {
        Entries now = entries;
        int found = -1;
        for (int i = 0; i < now.count() && now.startOffsets[i] <= offset; i++) {
            found = now.epochs[i];
        }
        return found;
    }

    /** The first epoch that began behind {@code offset}, or -1. */
    int epochAfter(long offset) {
        Entries now = entries;
        for (int i = 0; i < now.count(); i++) {
            if (now.startOffsets[i] > offset) {
                return now.epochs[i];
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
        Entries now = entries;
        int count = now.count();
        if (epoch < 0 || count == 0 || epoch > now.epochs[count - 1]) {
            return UNKNOWN;
        }
        if (epoch == now.epochs[count - 1]) {
            return new EpochEndOffset(epoch, endOffset);
        }
        int higher = 0;
        while (now.epochs[higher] <= epoch) {
            higher++;
        }
        int answered = higher == 0 ? epoch : now.epochs[higher - 1];
        return new EpochEndOffset(answered, now.startOffsets[higher]);
    }
}
