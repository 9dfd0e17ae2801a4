package io.journalq.server.shard;

import java.util.ArrayList;

/** The readers that wait for news of one partition, in no order. On the partition's loop. */
final class ArmedReaders {
    /** Null until the first reader waits: most partitions are not read. */
    private ArrayList<PartitionReader> readers;

    void add(PartitionReader reader) {
        if (!reader.isArmed()) {
            if (readers == null) {
                readers = new ArrayList<>(1);
            }
            reader.arm(this, readers.size());
            readers.add(reader);
        }
    }

    /** The reader waits no more, wherever it does. */
    static void disarm(PartitionReader reader) {
        if (reader.isArmed()) {
            reader.armedIn().remove(reader);
        }
    }

    private void remove(PartitionReader reader) {
        int index = reader.armedIndex();
        PartitionReader last = readers.remove(readers.size() - 1);
        if (last != reader) {
            readers.set(index, last);
            last.arm(this, index);
        }
        reader.disarm();
    }

    boolean isEmpty() {
        return readers == null || readers.isEmpty();
    }

    /**
     * Tells every reader, and forgets it unless it arms itself anew.
     *
     * @param visibleOffset up to where these readers see
     * @param visibleBytes how much that is
     */
    void fire(long visibleOffset, long visibleBytes) {
        if (isEmpty()) {
            return;
        }
        PartitionReader[] waiting = readers.toArray(new PartitionReader[0]);
        readers.clear();
        for (PartitionReader reader : waiting) {
            reader.disarm();
        }
        for (PartitionReader reader : waiting) {
            reader.onNews(reader.takeGrowth(visibleOffset, visibleBytes));
        }
    }
}
