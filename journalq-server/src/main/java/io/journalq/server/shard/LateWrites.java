package io.journalq.server.shard;

import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Has those partitions of a shard written whose batches were acknowledged from memory: all of them when the first is due,
 * or when they hold more bytes together than they may. On the shard's loop.
 */
final class LateWrites {
    private final LoopCycle cycle;
    private final long maxUnwrittenBytes;
    private final Set<PartitionHost> waiting = new LinkedHashSet<>();
    private final Runnable writeAll = this::writeAll;
    private long unwrittenBytes;
    private boolean writeRegistered;
    private Loop.Timer timer;
    private long dueNanos;

    /** @param maxUnwrittenBytes the most that is left in memory at the end of a cycle */
    LateWrites(LoopCycle cycle, long maxUnwrittenBytes) {
        this.cycle = cycle;
        this.maxUnwrittenBytes = maxUnwrittenBytes;
    }

    /** A partition has {@code sizeBytes} more in memory, to be written within {@code intervalMs}. */
    void add(PartitionHost host, int sizeBytes, long intervalMs) {
        unwrittenBytes += sizeBytes;
        if (unwrittenBytes > maxUnwrittenBytes) {
            register();
        }
        if (waiting.add(host)) {
            long itsDueNanos = cycle.loop().nanoTime() + TimeUnit.MILLISECONDS.toNanos(intervalMs);
            if (timer == null || itsDueNanos - dueNanos < 0) {
                cancelTimer();
                dueNanos = itsDueNanos;
                timer = cycle.loop().schedule(this::onDue, intervalMs);
            }
        }
    }

    /** A partition left the shard, written. */
    void forget(PartitionHost host) {
        waiting.remove(host);
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
        List<PartitionHost> hosts = List.copyOf(waiting);
        waiting.clear();
        unwrittenBytes = 0;
        hosts.forEach(PartitionHost::writeStaged);
    }

    private void cancelTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
