package io.journalq.server.loop;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Counts the records of one topic, or of several topics that share a series. Each event loop counts in an array of its
 * own, without a full fence; any thread can read the sums. The arrays are created by the first count, because most
 * topics are idle.
 */
public final class TopicCounters {
    private static final int APPENDED_RECORDS = 0;
    private static final int APPENDED_BYTES = 1;
    private static final int FETCHED_RECORDS = 2;
    private static final int FETCHED_BYTES = 3;
    private static final int COUNT = 4;

    private final AtomicReferenceArray<AtomicLongArray> byLoop;

    /** @param loops number of event loops */
    public TopicCounters(int loops) {
        this.byLoop = new AtomicReferenceArray<>(loops);
    }

    /**
     * A batch was appended to a partition. On the partition's loop.
     *
     * @param loop index of that loop
     * @param sizeBytes size of the batch as the producer sent it
     */
    public void onAppended(int loop, int records, int sizeBytes) {
        AtomicLongArray counts = countsOf(loop);
        LoopCounters.add(counts, APPENDED_RECORDS, records);
        LoopCounters.add(counts, APPENDED_BYTES, sizeBytes);
    }

    /**
     * Records were added to a Fetch response. On the loop of the connection.
     *
     * @param loop index of that loop
     */
    public void onFetched(int loop, long records, long sizeBytes) {
        AtomicLongArray counts = countsOf(loop);
        LoopCounters.add(counts, FETCHED_RECORDS, records);
        LoopCounters.add(counts, FETCHED_BYTES, sizeBytes);
    }

    private AtomicLongArray countsOf(int loop) {
        AtomicLongArray counts = byLoop.getPlain(loop);
        if (counts == null) {
            counts = new AtomicLongArray(COUNT);
            byLoop.setRelease(loop, counts);
        }
        return counts;
    }

    public long appendedRecords() {
        return sum(APPENDED_RECORDS);
    }

    /** Size of the appended batches, as producers sent them. */
    public long appendedBytes() {
        return sum(APPENDED_BYTES);
    }

    public long fetchedRecords() {
        return sum(FETCHED_RECORDS);
    }

    /** Size of the batches in Fetch responses. */
    public long fetchedBytes() {
        return sum(FETCHED_BYTES);
    }

    private long sum(int index) {
        long sum = 0;
        for (int loop = 0; loop < byLoop.length(); loop++) {
            AtomicLongArray counts = byLoop.getAcquire(loop);
            sum += counts == null ? 0 : counts.get(index);
        }
        return sum;
    }
}
