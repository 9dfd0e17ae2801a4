package io.journalq.server.shard;

/**
 * Somebody who reads a partition and may wait for more of it. Armed by a read that found too little, it fires once when
 * the partition has news; while it is not armed it costs the partition nothing.
 *
 * <p>Owned by the loop of the partition's shard, on which every method is called.
 */
public abstract class PartitionReader {
    private static final int NOT_ARMED = -1;

    private int armedIndex = NOT_ARMED;
    private long seenBytes;

    /**
     * The partition has news: records, a new first offset, or its end. Called on the partition's loop; the reader is not
     * armed any more.
     *
     * @param grownBytes size of the records that became readable since the reader's last read
     */
    protected abstract void onNews(long grownBytes);

    final boolean isArmed() {
        return armedIndex != NOT_ARMED;
    }

    final int armedIndex() {
        return armedIndex;
    }

    final void arm(int index) {
        armedIndex = index;
    }

    final void disarm() {
        armedIndex = NOT_ARMED;
    }

    final void see(long readableBytes) {
        seenBytes = readableBytes;
    }

    final boolean hasUnseen(long readableBytes) {
        return readableBytes > seenBytes;
    }

    final long takeGrowth(long readableBytes) {
        long grown = readableBytes - seenBytes;
        seenBytes = readableBytes;
        return grown;
    }
}
