package io.journalq.server.shard.flush;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.shard.flush.WalSyncers.WalLoopBuffers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/**
 * Tracks up to which offset one partition is durable, and has its journal flushed. In mode consistent, the write-ahead
 * files make writes durable, if there are any; otherwise flushes of the journal do.
 *
 * <p>On the partition's loop, except for {@link #flushJournal} and {@link #forget}.
 */
public final class PartitionDurability implements Flusher.Target, WalCoverage.Listener {
    /** Maximum time between flushes of a journal that the write-ahead files cover, in milliseconds. */
    private static final long COVERED_FLUSH_INTERVAL_MS = 10_000;

    private final TopicPartition name;
    private final Journal journal;
    private final Flusher flusher;
    private final WalLoopBuffers walBuffers;
    private Listener listener;
    private boolean consistent;
    private long flushIntervalMs;

    /** Null before the partition is first in mode consistent, and if there are no write-ahead files. */
    private volatile WalCoverage coverage;

    /** Null until the first call of {@link #flush}. */
    private ArrayDeque<FlushWait> flushWaits;

    private boolean closed;

    /** Is informed of the durability of writes. */
    public interface Listener {
        /** Everything before {@code offset} survives a power loss. */
        void onDurable(long offset);

        /** The disk failed: it is unknown which of the writes that are not durable yet survive. */
        void onFlushFailure(IOException failure);
    }

    /** A caller that waits until everything before an offset is on the disk. */
    private record FlushWait(long offset, Consumer<ErrorCode> done) {}

    /** Creates an instance; {@link #reportTo} and {@link #follow} must be called before the first write. */
    public PartitionDurability(TopicPartition name, Journal journal, Flusher flusher, WalLoopBuffers walBuffers) {
        this.name = name;
        this.journal = journal;
        this.flusher = flusher;
        this.walBuffers = walBuffers;
    }

    public void reportTo(Listener newListener) {
        listener = newListener;
    }

    /**
     * Applies the topic's configuration.
     *
     * @param isConsistent whether appends wait until they are durable
     * @param newFlushIntervalMs maximum time until an acknowledged append is durable, in milliseconds
     */
    public void follow(boolean isConsistent, long newFlushIntervalMs) {
        flushIntervalMs = newFlushIntervalMs;
        boolean before = consistent;
        consistent = isConsistent;
        if (consistent && !before) {
            beginCoverage();
        } else if (before && !consistent) {
            journal.setObserver(null);
            // The flush interval applies from now on, and covered writes may already have waited for longer.
            flushNow();
        } else if (!consistent && coverage == null && walBuffers.mayHold(journal)) {
            // It was in mode consistent before it was last opened. A truncation makes those writes void.
            beginCoverage();
            journal.setObserver(null);
        }
    }

    private void beginCoverage() {
        if (coverage == null) {
            coverage = walBuffers.cover(journal, this);
        } else {
            coverage.begin();
        }
        journal.setObserver(coverage);
    }

    /** Whether writes go into write-ahead files, as far as these have room. */
    private boolean isCovered() {
        return consistent && coverage != null;
    }

    /** Stops all writes after a failed sync of the write-ahead files, as after a failed sync of the journal. */
    public void fenceAfterFailure() {
        IOException failure = isCovered() ? coverage.failure() : null;
        if (failure != null) {
            journal.fence(failure);
        }
    }

    /** Called when the journal was written. */
    public void onWritten() {
        flusher.onWritten(this, isCovered() ? Math.max(flushIntervalMs, COVERED_FLUSH_INTERVAL_MS) : flushIntervalMs);
    }

    /** Called when the journal could not be written: writes can succeed again after a flush. */
    public void onWriteFailure() {
        flusher.flushSoon(this);
    }

    /** Everything before this offset survives a power loss. */
    public long durableOffset() {
        return durableOffset(journal.flushedOffset());
    }

    private long durableOffset(long flushedOffset) {
        return coverage == null ? flushedOffset : Math.max(flushedOffset, coverage.durableOffset());
    }

    @Override
    public boolean isDurable() {
        return durableOffset() >= journal.writtenOffset();
    }

    @Override
    public boolean isFlushAwaited() {
        boolean awaitedByAppends = consistent && (coverage == null || coverage.needsFlush());
        return awaitedByAppends || (hasFlushWaits() && !isCovered());
    }

    /**
     * Makes everything written up to now durable, in any delivery mode.
     *
     * @param done called on the loop with NONE once everything is on the disk, otherwise with KAFKA_STORAGE_ERROR or
     *     NOT_LEADER_OR_FOLLOWER
     */
    public void flush(Consumer<ErrorCode> done) {
        if (isDurable()) {
            done.accept(ErrorCode.NONE);
            return;
        }
        if (flushWaits == null) {
            flushWaits = new ArrayDeque<>(1);
        }
        flushWaits.add(new FlushWait(journal.writtenOffset(), done));
        if (isFlushAwaited() || journal.isFenced()) {
            flusher.flushSoon(this);
        }
    }

    private boolean hasFlushWaits() {
        return flushWaits != null && !flushWaits.isEmpty();
    }

    /** Completes the calls of {@link #flush} that wait for an offset up to this one. */
    public void completeFlushes(long offset) {
        endFlushWaits(offset, ErrorCode.NONE);
    }

    private void endFlushWaits(long upToOffset, ErrorCode outcome) {
        while (hasFlushWaits() && flushWaits.peek().offset() <= upToOffset) {
            flushWaits.poll().done().accept(outcome);
        }
    }

    private void complete(long offset) {
        if (!closed) {
            listener.onDurable(offset);
            completeFlushes(offset);
        }
    }

    @Override
    public TopicPartition name() {
        return name;
    }

    @Override
    public Path directory() {
        return journal.directory();
    }

    @Override
    public long flushJournal() throws IOException {
        return journal.flush();
    }

    @Override
    public void onFlushed(long flushedOffset) {
        complete(durableOffset(flushedOffset));
    }

    @Override
    public void onFlushFailure(IOException failure) {
        if (failure instanceof SyncNotBegunException) {
            flusher.onNotBegun(this, failure, flushIntervalMs);
            if (!isFlushAwaited()) {
                return; // Waiting appends wait for the write-ahead files.
            }
        }
        listener.onFlushFailure(failure);
        endFlushWaits(Long.MAX_VALUE, ErrorCode.KAFKA_STORAGE_ERROR);
    }

    @Override
    public void onCovered(long offset) {
        if (journal.isFenced()) {
            // The appends that waited at the time of the fence were rejected, or this flush rejects them if it happened
            // in the background.
            flushNow();
        } else {
            complete(offset);
            flusher.onDurable(this);
        }
    }

    @Override
    public void onCommitFailure(IOException failure) {
        if (!closed) {
            journal.fence(failure);
            onFlushFailure(failure);
        }
    }

    @Override
    public void flushNow() {
        if (!closed) {
            flusher.flushNow(this);
        }
    }

    /** Fences the journal, because the partition's files cannot be used any more. */
    public void takeOffline() {
        endFlushWaits(Long.MAX_VALUE, ErrorCode.KAFKA_STORAGE_ERROR);
        flusher.forget(this);
    }

    /** Called when the partition leaves the shard. From now on another thread closes or deletes its journal. */
    public void close() {
        closed = true;
        journal.setObserver(null);
        endFlushWaits(Long.MAX_VALUE, ErrorCode.NOT_LEADER_OR_FOLLOWER);
        flusher.forget(this);
    }

    /**
     * Runs {@code work} on the loop as soon as no write is on its way into the write-ahead files, after {@link #close}.
     * Another thread may then truncate the journal.
     */
    public void whenSettled(Runnable work) {
        if (coverage == null) {
            work.run();
        } else {
            coverage.whenSettled(work);
        }
    }

    /** Called when the journal was deleted. Any thread. */
    public void forget() {
        WalCoverage ofDeleted = coverage;
        if (ofDeleted != null) {
            ofDeleted.forget();
        }
    }
}
