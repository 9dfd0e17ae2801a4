package io.journalq.server.shard.flush;

import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalWrites;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Tracks how far the write-ahead files cover one journal. They contain everything that it wrote from
 * {@link #coveredFrom} on. Data before that is durable once the journal itself was synced up to there. Coverage starts
 * again behind the first batch of each segment, and behind a write that did not fit into the buffer.
 *
 * <p>On the journal's loop, except for the methods of {@link io.journalq.server.journal.wal.CoveredJournal}.
 */
final class WalCoverage implements JournalWrites, WalLoopBuffer.Staging {
    private final WalLoopBuffer buffer;
    private final Journal journal;
    private final Listener listener;
    private final String directoryName;
    private final byte[] encodedName;
    private long coveredFrom;
    private long committedOffset;
    /** Number of staged writes whose commit has not ended. */
    private int uncommitted;

    /** Whether the write-ahead files may hold writes of the journal that are not void, also from before it was last opened. */
    private boolean staged;

    private volatile boolean gone;

    /** Runs when no commit is awaited any more; null if nobody waits. */
    private Runnable settled;

    /** Is informed of the durability of the journal's writes. On the journal's loop. */
    interface Listener {
        /** Everything before {@code offset} is durable. */
        void onCovered(long offset);

        /** It is unknown which of the writes are durable, and no later writes will be. */
        void onCommitFailure(IOException failure);

        /** The journal must be synced: appends wait for it, or its write-ahead file could then be reused. */
        void flushNow();
    }

    WalCoverage(WalLoopBuffer buffer, Journal journal, Listener listener) {
        this.buffer = buffer;
        this.journal = journal;
        this.listener = listener;
        this.directoryName = String.valueOf(journal.directory().getFileName());
        this.encodedName = directoryName.getBytes(StandardCharsets.UTF_8);
        this.staged = buffer.mayHold(directoryName);
        begin();
    }

    /** Starts to observe the journal's writes. Earlier writes are not covered. */
    void begin() {
        restart(journal.writtenOffset());
    }

    private void restart(long fromOffset) {
        coveredFrom = fromOffset;
        committedOffset = fromOffset;
    }

    @Override
    public void onWritten(long segmentBaseOffset, int position, long endOffset, List<ByteBuf> batches) {
        // Only a flush syncs the name of a new segment; write-ahead files only contain data of existing segments, see
        // WalReplay.
        boolean named = position > 0;
        if (named && buffer.stage(this, encodedName, segmentBaseOffset, position, endOffset, batches)) {
            if (!staged) {
                staged = true;
                buffer.onFirstWrite(directoryName);
            }
            uncommitted++;
        } else {
            coveredFrom = endOffset;
        }
    }

    /** On a thread that may block, while the loop leaves the journal alone. */
    @Override
    public void beforeTruncation(long offset) throws IOException {
        if (uncommitted > 0) {
            throw new IOException(journal.directory() + " has writes on their way into write-ahead files");
        }
        if (staged) {
            buffer.cut(this, directoryName, offset);
            staged = false;
        }
    }

    @Override
    public void onTruncated(long endOffset) {
        restart(endOffset);
    }

    /** Why nothing becomes durable any more; null while it does. */
    IOException failure() {
        return buffer.failure();
    }

    /** Whether committed data cannot be relied on until the journal itself is synced. */
    boolean needsFlush() {
        return journal.flushedOffset() < coveredFrom;
    }

    /** Everything before this offset survives a power loss. */
    long durableOffset() {
        long flushedOffset = journal.flushedOffset();
        return flushedOffset < coveredFrom ? flushedOffset : Math.max(flushedOffset, committedOffset);
    }

    @Override
    public void onCommitted(long endOffset) {
        committedOffset = endOffset;
        onCommitEnded();
    }

    @Override
    public void onMissed(long endOffset) {
        coveredFrom = Math.max(coveredFrom, endOffset);
        onCommitEnded();
    }

    private void onCommitEnded() {
        uncommitted--;
        if (uncommitted == 0 && settled != null) {
            buffer.enqueue(settled);
            settled = null;
        }
    }

    /** Runs {@code work} as soon as no write is on its way into the write-ahead files. The journal writes nothing more. */
    void whenSettled(Runnable work) {
        if (uncommitted == 0) {
            work.run();
        } else {
            settled = work;
        }
    }

    @Override
    public void afterCommit(IOException failure) {
        if (failure != null) {
            listener.onCommitFailure(failure);
            return;
        }
        listener.onCovered(durableOffset());
        if (needsFlush()) {
            listener.flushNow();
        }
    }

    /** Called when the journal was deleted. Any thread. */
    void forget() {
        gone = true;
    }

    @Override
    public long flushedOffset() {
        return journal.flushedOffset();
    }

    @Override
    public boolean isGone() {
        return gone;
    }

    @Override
    public void flushSoon() {
        buffer.enqueue(listener::flushNow);
    }
}
