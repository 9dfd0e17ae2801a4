package io.journalq.server.shard.flush;

import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Schedules the writes of a shard's partitions whose batches were acknowledged from memory. All of them are written
 * when the first is due, or when together they hold more bytes than {@code unwritten.max.bytes} allows. On the shard's
 * loop.
 */
public final class DeferredWrites {
    private final LoopCycle cycle;
    private final long maxUnwrittenBytes;
    private final Set<Target> waiting = new LinkedHashSet<>();
    private final Runnable writeAll = this::writeAll;
    private long unwrittenBytes;
    private boolean writeRegistered;
    private Loop.Timer timer;
    private long dueNanos;

    /** A partition with batches that are only in memory. */
    @FunctionalInterface
    public interface Target {
        /** Writes the batches now. */
        void writeStaged();
    }

    /** @param maxUnwrittenBytes maximum size of the batches that are left in memory at the end of a cycle */
    public DeferredWrites(LoopCycle cycle, long maxUnwrittenBytes) {
        this.cycle = cycle;
        this.maxUnwrittenBytes = maxUnwrittenBytes;
    }

    /** Adds {@code sizeBytes} of a partition, to be written within {@code intervalMs}. */
    public void add(Target partition, int sizeBytes, long intervalMs) {
        unwrittenBytes += sizeBytes;
        if (unwrittenBytes > maxUnwrittenBytes) {
            register();
        }
        if (waiting.add(partition)) {
            long itsDueNanos = cycle.loop().nanoTime() + TimeUnit.MILLISECONDS.toNanos(intervalMs);
            if (timer == null || itsDueNanos - dueNanos < 0) {
                cancelTimer();
                dueNanos = itsDueNanos;
                timer = cycle.loop().schedule(this::onDue, intervalMs);
            }
        }
    }

    /** Removes a partition that leaves the shard after all its batches were written. */
    public void forget(Target partition) {
        waiting.remove(partition);
    }

    private void onDue() {
        timer = null;
        register();
    }

    private void register() {
        if (!writeRegistered) {
            writeRegistered = true;
            cycle.onWrite(writeAll);
        }
    }

    private void writeAll() {
        writeRegistered = false;
        cancelTimer();
        List<Target> partitions = List.copyOf(waiting);
        waiting.clear();
        unwrittenBytes = 0;
        partitions.forEach(Target::writeStaged);
    }

    private void cancelTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
