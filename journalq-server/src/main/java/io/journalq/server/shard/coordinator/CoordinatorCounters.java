package io.journalq.server.shard.coordinator;

import java.util.concurrent.atomic.LongAdder;

/** Statistics of loading and storing the state of coordinators of one kind. Any thread. */
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

    /** Number of journal records that were read to load coordinators because they were not stored. */
    public long replayedRecords() {
        return replayedRecords.sum();
    }

    /** Number of changed records that were written to the store. */
    public long storedRecords() {
        return storedRecords.sum();
    }
}
