package io.journalq.server.shard.flush;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.SyncNotBegunException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/**
 * Tracks up to which offset one partition is durable, and has its journal flushed. In mode consistent, the write-ahead
 * files make writes durable where there are any; otherwise flushes of the journal do.
 *
 * <p>On the partition's loop, except for {@link #flushJournal} and {@link #forget}.
 */
public final class Durability implements Flusher.Target, WalCoverage.Listener {
    /** The longest time for which a journal that the write-ahead files cover is not flushed, in milliseconds. */
    private static final long COVERED_FLUSH_INTERVAL_MS = 10_000;

    private final TopicPartition name;
    private final Journal journal;
    private final Flusher flusher;
    private final WalLoopBuffers walBuffers;
    private Listener listener;
    private boolean consistent;
    private long flushIntervalMs;

    /** Null until the first time in mode consistent, and where there are no write-ahead files. */
    private volatile WalCoverage coverage;

    /** Null until the first call of {@link #flush}. */
    private ArrayDeque<FlushWait> flushWaits;

    private boolean closed;

    /** Is informed of what becomes of writes. */
    public interface Listener {
        /** Everything before {@code offset} survives a power loss. */
        void onDurable(long offset);

        /** The disk failed: it is not known which of the writes that are not durable yet survive. */
        void onFlushFailure(IOException failure);
    }

    /** A caller that waits until everything before an offset is on the disk. */
    private record FlushWait(long offset, Consumer<ErrorCode> done) {}

    /** Tracks a partition that waits for nothing yet; {@link #reportTo} and {@link #follow} come before the first write. */
    public Durability(TopicPartition name, Journal journal, Flusher flusher, WalLoopBuffers walBuffers) {
        this.name = name;
        this.journal = journal;
        this.flusher = flusher;
        this.walBuffers = walBuffers;
    }

    public void reportTo(Listener newListener) {
        listener = newListener;
    }

    /**
     * Follows the topic's configuration.
     *
     * @param isConsistent whether appends wait until they are durable
     * @param newFlushIntervalMs longest time for which an acknowledged append may be off the disk, in milliseconds
     */
    public void follow(boolean isConsistent, long newFlushIntervalMs) {
        flushIntervalMs = newFlushIntervalMs;
        boolean before = consistent;
        consistent = isConsistent;
        if (consistent && !before) {
            beginCoverage();
        } else if (before && !consistent) {
            journal.setObserver(null);
            // From now on the flush interval is a promise, and what was covered may have waited for longer than that.
            flushNow();
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

    /** After a failed sync of the write-ahead files, as after one of the journal, nothing more is written. */
    public void fenceAfterFailure() {
        IOException failure = isCovered() ? coverage.failure() : null;
        if (failure != null) {
            journal.fence(failure);
        }
    }

    /** The journal was written. */
    public void onWritten() {
        flusher.onWritten(this, isCovered() ? Math.max(flushIntervalMs, COVERED_FLUSH_INTERVAL_MS) : flushIntervalMs);
    }

    /** The journal could not be written: writes can succeed again after a flush. */
    public void onWriteFailure() {
        flusher.flushSoon(this);
    }

    /** Everything before this survives a power loss. */
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
     * Makes durable what is written by now, whatever the topic's mode.
     *
     * @param done is called on the loop, with NONE once everything is on the disk, otherwise with KAFKA_STORAGE_ERROR or
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

    /** Ends the calls of {@link #flush} that wait for an offset up to this one. */
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
                return; // Appends that wait do so for the write-ahead files.
            }
        }
        listener.onFlushFailure(failure);
        endFlushWaits(Long.MAX_VALUE, ErrorCode.KAFKA_STORAGE_ERROR);
    }

    @Override
    public void onCovered(long offset) {
        if (journal.isFenced()) {
            // Everybody who waited when it was fenced was refused or, if that was in the background, is by this flush.
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

    /** The partition's files cannot be used any more. The journal is fenced. */
    public void takeOffline() {
        endFlushWaits(Long.MAX_VALUE, ErrorCode.KAFKA_STORAGE_ERROR);
        flusher.forget(this);
    }

    /** The partition leaves the shard. From now on its journal is closed or deleted on another thread. */
    public void close() {
        closed = true;
        journal.setObserver(null);
        endFlushWaits(Long.MAX_VALUE, ErrorCode.NOT_LEADER_OR_FOLLOWER);
        flusher.forget(this);
    }

    /** The journal was deleted. Any thread. */
    public void forget() {
        WalCoverage ofDeleted = coverage;
        if (ofDeleted != null) {
            ofDeleted.forget();
        }
    }
}
