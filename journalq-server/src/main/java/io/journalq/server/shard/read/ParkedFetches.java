package io.journalq.server.shard.read;

import java.util.ArrayList;

/** The readers that are parked until one partition has news, in no particular order. On the partition's loop. */
final class ParkedFetches implements PartitionReader.Place {
    private static final PartitionReader[] NOBODY = {};

    /** Null until the first reader is parked: most partitions are not read. */
    private ArrayList<PartitionReader> readers;

    void add(PartitionReader reader) {
        if (!reader.isParked()) {
            if (readers == null) {
                readers = new ArrayList<>(1);
            }
            reader.onParked(this, readers.size());
            readers.add(reader);
        }
    }

    @Override
    public void remove(PartitionReader reader) {
        int index = reader.parkedIndex();
        PartitionReader last = readers.remove(readers.size() - 1);
        if (last != reader) {
            readers.set(index, last);
            last.onParked(this, index);
        }
        reader.onUnparked();
    }

    boolean isEmpty() {
        return readers == null || readers.isEmpty();
    }

    /**
     * Informs every reader, and removes it unless it parks again.
     *
     * @param visibleOffset the end of the records that these readers see
     * @param visibleBytes the size of the log up to there
     */
    void wake(long visibleOffset, long visibleBytes) {
        for (PartitionReader reader : takeAll()) {
            reader.onNews(reader.takeGrowth(visibleOffset, visibleBytes));
        }
    }

    /** Informs every reader that it can learn other offsets, and removes it unless it parks again. */
    void wakeForOffsets() {
        for (PartitionReader reader : takeAll()) {
            reader.onNews(0);
        }
    }

    private PartitionReader[] takeAll() {
        if (isEmpty()) {
            return NOBODY;
        }
        PartitionReader[] parked = readers.toArray(NOBODY);
        readers.clear();
        for (PartitionReader reader : parked) {
            reader.onUnparked();
        }
        return parked;
    }
}
