package io.journalq.server.shard.read;

import java.util.ArrayList;

/** The readers that are parked until one partition has news, in no particular order. On the partition's loop. */
final class ParkedFetches implements PartitionReader.Place {
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
        if (isEmpty()) {
            return;
        }
        PartitionReader[] parked = readers.toArray(new PartitionReader[0]);
        readers.clear();
        for (PartitionReader reader : parked) {
            reader.onUnparked();
        }
        for (PartitionReader reader : parked) {
            reader.onNews(reader.takeGrowth(visibleOffset, visibleBytes));
        }
    }
}
