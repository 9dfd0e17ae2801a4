package io.journalq.server.shard.commit;

import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalWrites;
import io.journalq.server.journal.wal.Covered;
import io.journalq.server.journal.wal.WriteAheadFrames;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * One journal in the write-ahead files. What it writes is covered without a gap from {@link #coveredFrom} on; what lies
 * before that is durable once the journal itself was synced so far. Where something could not be taken in, and behind the
 * first of each segment, coverage begins anew.
 *
 * <p>On the journal's loop, but for what {@link Covered} says.
 */
public final class Coverage implements JournalWrites, Covered {
    private final LoopCommit commit;
    private final Journal journal;
    private final Owner owner;
    private final byte[] folder;
    private long coveredFrom;
    private long committedOffset;
    private volatile boolean gone;

    /** Hears what becomes of what was written. */
    public interface Owner {
        /** Everything before {@code offset} is durable. */
        void onDurable(long offset);

        /** It is not known what of it is durable, and nothing more will be. */
        void onCommitFailure(IOException failure);

        /** Only a sync of the journal lets appends go on: see {@link Coverage#needsFlush}. */
        void flushNow();

        /** The journal is to be synced, though nobody waits for it. */
        void flushSoon();
    }

    Coverage(LoopCommit commit, Journal journal, Owner owner) {
        this.commit = commit;
        this.journal = journal;
        this.owner = owner;
        this.folder = String.valueOf(journal.directory().getFileName()).getBytes(StandardCharsets.UTF_8);
        begin();
        this.committedOffset = coveredFrom;
    }

    /** The journal shows what it writes from now on; what it wrote until now is not known here. */
    public void begin() {
        coveredFrom = journal.writtenOffset();
    }

    @Override
    public void onWritten(long segmentBaseOffset, int position, long endOffset, List<ByteBuf> batches) {
        WriteAheadFrames.Entry entry = new WriteAheadFrames.Entry(this, endOffset);
        // A flush has the name of a new segment synced; write-ahead files only say what is in one, see JournalRedo.
        boolean named = position > 0;
        if (!named || !commit.stage(entry, folder, segmentBaseOffset, position, batches)) {
            coveredFrom = endOffset;
        }
    }

    /** Why nothing is made durable any more; null while it is. */
    public IOException failure() {
        return commit.failure();
    }

    /** Whether the journal itself must be synced before anything that is committed here can be relied on. */
    public boolean needsFlush() {
        return journal.flushedOffset() < coveredFrom;
    }

    /** Everything before this survives a power loss. */
    public long durableOffset() {
        long flushedOffset = journal.flushedOffset();
        return flushedOffset < coveredFrom ? flushedOffset : Math.max(flushedOffset, committedOffset);
    }

    void onCommitted(long endOffset) {
        committedOffset = endOffset;
    }

    void onMissed(long endOffset) {
        coveredFrom = Math.max(coveredFrom, endOffset);
    }

    /** After a commit that held something of it. */
    void tellOwner() {
        owner.onDurable(durableOffset());
        if (needsFlush()) {
            owner.flushNow();
        }
    }

    void onFailure(IOException failure) {
        owner.onCommitFailure(failure);
    }

    /** The journal was deleted. Any thread. */
    public void forget() {
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
        commit.enqueue(owner::flushSoon);
    }
}
