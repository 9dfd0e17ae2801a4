package io.journalq.server.shard;

import io.journalq.server.journal.Journal;
import io.journalq.server.shard.commit.Coverage;
import java.io.IOException;

/**
 * Up to where one partition is durable, and what that waits for: in mode consistent, where there are write-ahead files, for
 * those; else for flushes of the journal. On the shard's loop, but for {@link #forget}.
 */
final class Durability implements Coverage.Owner {
    /** What the write-ahead files cover is flushed in the journal when they need the room, or after so long. */
    private static final long COVERED_FLUSH_INTERVAL_MS = 10_000;

    private final Shard shard;
    private final PartitionHost host;
    private final Journal journal;
    private boolean consistent;

    /** Null until the first time in mode consistent, and where there are no write-ahead files. */
    private volatile Coverage coverage;

    private boolean ended;

    Durability(Shard shard, PartitionHost host) {
        this.shard = shard;
        this.host = host;
        this.journal = host.journal();
    }

    /** Takes on the delivery mode that is configured. */
    void follow(DeliveryMode mode) {
        boolean before = consistent;
        consistent = mode == DeliveryMode.CONSISTENT;
        if (consistent && !before) {
            beginCoverage();
        } else if (before && !consistent) {
            journal.setObserver(null);
            // From now on the flush interval is a promise, and what was covered may wait for longer than that.
            flushNow();
        }
    }

    private void beginCoverage() {
        if (coverage == null) {
            coverage = shard.commits().cover(journal, this);
        } else {
            coverage.begin();
        }
        journal.setObserver(coverage);
    }

    /** Whether appends that are written wait for a flush of the journal. */
    boolean awaitsFlush() {
        return consistent && (coverage == null || coverage.needsFlush());
    }

    /** Whether what is written goes into write-ahead files, as far as they take it. */
    boolean isCovered() {
        return consistent && coverage != null;
    }

    /** How long what is written may wait for a flush of the journal, in milliseconds. */
    long flushIntervalMs() {
        long intervalMs = host.settings().flushIntervalMs();
        return isCovered() ? Math.max(intervalMs, COVERED_FLUSH_INTERVAL_MS) : intervalMs;
    }

    /** After a failed sync of the write-ahead files nothing more is taken, as after one of the journal. */
    void fenceAfterFailure() {
        IOException failure = isCovered() ? coverage.failure() : null;
        if (failure != null) {
            journal.fence(failure);
        }
    }

    /** Up to where the partition is durable, once its journal is flushed up to {@code flushedOffset}. */
    long durableOffset(long flushedOffset) {
        return coverage == null ? flushedOffset : Math.max(flushedOffset, coverage.durableOffset());
    }

    @Override
    public void onDurable(long offset) {
        if (journal.isFenced()) {
            // Who waited when it was fenced was refused or, when that was in the background, is by this flush.
            flushNow();
        } else {
            host.onDurable(offset);
            shard.flusher().onDurable(host, shard.cycle().loop().nanoTime());
        }
    }

    @Override
    public void onCommitFailure(IOException failure) {
        if (!ended) {
            journal.fence(failure);
            host.onFlushFailure(failure);
        }
    }

    @Override
    public void flushNow() {
        if (!ended) {
            shard.flusher().flushNow(host);
        }
    }

    @Override
    public void flushSoon() {
        flushNow();
    }

    /** The partition leaves the shard; from now on its journal is closed, or deleted, on another thread. */
    void end() {
        ended = true;
        journal.setObserver(null);
    }

    /** The journal was deleted. Any thread. */
    void forget() {
        Coverage ofDeleted = coverage;
        if (ofDeleted != null) {
            ofDeleted.forget();
        }
    }
}
