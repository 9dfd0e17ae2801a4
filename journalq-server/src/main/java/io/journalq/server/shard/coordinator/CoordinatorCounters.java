package io.journalq.server.shard.coordinator;

import java.util.concurrent.atomic.LongAdder;

/** What the coordinators of one kind did to load and to store their state. Any thread. */
public final class CoordinatorCounters {
    private final LongAdder replayedRecords = new LongAdder();
    private final LongAdder storedRecords = new LongAdder();

    CoordinatorCounters() {}

    void onReplayed(long records) {
        replayedRecords.add(records);
    }

    void onStored(long records) {
        storedRecords.add(records);
    }

    /** Records of journals that were read to load coordinators: those that were not stored. */
    public long replayedRecords() {
        return replayedRecords.sum();
    }

    /** Changed records that were brought into the store. */
    public long storedRecords() {
        return storedRecords.sum();
    }
}
