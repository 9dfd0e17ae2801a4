package io.journalq.server.shard;

/**
 * Somebody who reads a partition and may wait for more of it. Armed by a read that found too little, it fires once when
 * the partition has news; while it is not armed it costs the partition nothing.
 *
 * <p>Owned by the loop of the partition's shard, on which every method is called.
 */
public abstract class PartitionReader {
    /** How many bytes lie before an offset, when that is not known. */
    static final long UNKNOWN_BYTES = -1L;

    private ArmedReaders armedIn;
    private int armedIndex;
    private long seenOffset;
    private long seenBytes;

    /**
     * The partition has news: records, a new first offset, or its end. Called on the partition's loop; the reader is not
     * armed any more.
     *
     * @param grownBytes size of the records that became visible since the reader's last read; 0 when that is not known, or
     *     the news is something else
     */
    protected abstract void onNews(long grownBytes);

    /** Whether this reader sees records only once their transactions have ended, else all that is readable. */
    protected abstract boolean readsCommitted();

    final boolean isArmed() {
        return armedIn != null;
    }

    /** Where it waits; null when it does not. */
    final ArmedReaders armedIn() {
        return armedIn;
    }

    final int armedIndex() {
        return armedIndex;
    }

    final void arm(ArmedReaders readers, int index) {
        armedIn = readers;
        armedIndex = index;
    }

    final void disarm() {
        armedIn = null;
    }

    /** Everything before {@code offset} was visible to a read. */
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
