package io.journalq.server.shard.read;

import io.journalq.server.loop.LoopCycle;

/**
 * The fetches of other replicas that are parked until one partition has grown. They are woken in the cycle that writes a
 * batch. A new high watermark alone wakes them a little later, because the next batch usually carries it. On the
 * partition's loop.
 */
final class ParkedReplicas {
    /** Maximum time for which a new high watermark waits for a batch, in milliseconds. */
    private static final long HIGH_WATERMARK_DELAY_MS = 10;

    private final LoopCycle cycle;
    private final ParkedFetches readers = new ParkedFetches();
    private boolean timed;

    ParkedReplicas(LoopCycle cycle) {
        this.cycle = cycle;
    }

    void add(PartitionReader reader) {
        readers.add(reader);
    }

    /** Wakes the readers, because the log has grown. */
    void wake(long endOffset, long writtenBytes) {
        readers.wake(endOffset, writtenBytes);
    }

    /** Wakes the readers soon, so that they learn the high watermark. */
    void wakeSoon() {
        if (!timed && !readers.isEmpty()) {
            timed = true;
            cycle.loop().schedule(this::onTimer, HIGH_WATERMARK_DELAY_MS);
        }
    }

    /** Wakes the readers, because the log has another first offset or is not led here any more. */
    void wakeNow() {
        readers.wakeForOffsets();
    }

    private void onTimer() {
        timed = false;
        wakeNow();
    }
}
