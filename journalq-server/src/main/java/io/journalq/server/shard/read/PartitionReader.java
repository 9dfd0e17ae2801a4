package io.journalq.server.shard.read;

/**
 * A reader of one partition, which can wait for more records. A read that finds too little parks the reader. It is
 * informed once when the partition has news. While it is not parked, it uses no resources of the partition.
 *
 * <p>All methods run on the loop of the partition's shard.
 */
public abstract class PartitionReader {
    /** Used if the size of the log before an offset is unknown. */
    static final long UNKNOWN_BYTES = -1L;

    private Place parkedIn;
    private int parkedIndex;
    private long seenOffset;
    private long seenBytes;

    /** Where a reader is parked. */
    interface Place {
        /** Removes a reader that is parked here. */
        void remove(PartitionReader reader);
    }

    /**
     * Called when the partition has news: records, a new first offset, or its end. The reader is no longer parked.
     *
     * @param grownBytes size of the records that became visible since the reader's last read; 0 if that is unknown, or
     *     for other news
     */
    protected abstract void onNews(long grownBytes);

    /**
     * Whether this reader sees records only once their transactions have ended; otherwise it sees all readable ones.
     */
    protected abstract boolean readsCommitted();

    final boolean isParked() {
        return parkedIn != null;
    }

    final boolean isParkedIn(Place place) {
        return parkedIn == place;
    }

    /** Stops waiting, wherever the reader is parked. */
    public final void unpark() {
        if (parkedIn != null) {
            parkedIn.remove(this);
        }
    }

    final int parkedIndex() {
        return parkedIndex;
    }

    final void onParked(Place place, int index) {
        parkedIn = place;
        parkedIndex = index;
    }

    final void onUnparked() {
        parkedIn = null;
    }

    /** Notes that a read saw everything before {@code offset}. */
    final void see(long offset, long bytes) {
        seenOffset = offset;
        seenBytes = bytes;
    }

    final boolean hasUnseen(long visibleOffset) {
        return visibleOffset > seenOffset;
    }

    final long takeGrowth(long visibleOffset, long visibleBytes) {
        boolean known = seenBytes != UNKNOWN_BYTES && visibleBytes != UNKNOWN_BYTES;
        long grown = known ? visibleBytes - seenBytes : 0;
        see(visibleOffset, visibleBytes);
        return grown;
    }
}
