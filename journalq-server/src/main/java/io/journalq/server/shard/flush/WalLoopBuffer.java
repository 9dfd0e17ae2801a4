package io.journalq.server.shard.flush;

import io.journalq.server.journal.wal.CoveredJournal;
import io.journalq.server.journal.wal.WriteAheadFrames;
import io.journalq.server.loop.LoopCycle;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The buffer of one loop for the write-ahead files of one data directory. It collects the writes of the loop's journals
 * during a commit, for the next commit. On that loop.
 */
final class WalLoopBuffer implements WalSyncer.Submitter {
    private static final Logger log = LoggerFactory.getLogger(WalLoopBuffer.class);

    private final WalSyncer syncer;
    private final LoopCycle cycle;
    private final Runnable submit = this::submit;
    private WriteAheadFrames gathered;
    private WriteAheadFrames idle;
    private boolean registered;

    /**
     * A journal that stages its writes here. All methods run on the loop, except for those of {@link CoveredJournal}.
     */
    interface Staging extends CoveredJournal {
        /** Everything staged before {@code endOffset} is durable in the write-ahead files. */
        void onCommitted(long endOffset);

        /** The data staged before {@code endOffset} is not in the write-ahead files. */
        void onMissed(long endOffset);

        /**
         * Called after a commit with data of this journal.
         *
         * @param failure why nothing becomes durable any more; null while commits continue
         */
        void afterCommit(IOException failure);
    }

    WalLoopBuffer(WalSyncer syncer, LoopCycle cycle, int loopCount) {
        this.syncer = syncer;
        this.cycle = cycle;
        int maxSizeBytes = syncer.maxFramesSizeBytes(loopCount);
        this.gathered = new WriteAheadFrames(maxSizeBytes);
        this.idle = new WriteAheadFrames(maxSizeBytes);
    }

    /** Why nothing is committed any more; null while commits continue. */
    IOException failure() {
        return syncer.failure();
    }

    /** Runs {@code work} on the loop. Any thread. */
    void enqueue(Runnable work) {
        cycle.enqueue(work);
    }

    /** Stages a write of a journal; false if there is no room until the next commit. */
    boolean stage(
            Staging journal,
            byte[] directoryName,
            long segmentBaseOffset,
            int position,
            long endOffset,
            List<ByteBuf> batches) {
        WriteAheadFrames.Entry entry = new WriteAheadFrames.Entry(journal, endOffset);
        if (!gathered.add(entry, directoryName, segmentBaseOffset, position, batches)) {
            return false;
        }
        if (!registered) {
            registered = true;
            cycle.onWakeUp(submit);
        }
        return true;
    }

    /**
     * Makes the earlier records of a journal void. None of them is staged. Any thread; blocks.
     *
     * @param offset the offset to which the journal is about to be truncated
     * @throws IOException if that is not durable in the write-ahead files
     */
    void cut(CoveredJournal journal, String directoryName, long offset) throws IOException {
        syncer.cut(journal, directoryName, offset);
    }

    /** As {@link WalSyncer#mayHold}. Any thread. */
    boolean mayHold(String directoryName) {
        return syncer.mayHold(directoryName);
    }

    /** A journal is about to stage its first write. */
    void onFirstWrite(String directoryName) {
        syncer.onFirstWrite(directoryName);
    }

    private void submit() {
        registered = false;
        if (idle == null || gathered.isEmpty()) {
            return;
        }
        WriteAheadFrames frames = gathered;
        gathered = idle;
        idle = null;
        syncer.submit(this, frames);
    }

    @Override
    public void onCommitted(WriteAheadFrames frames, boolean committed, IOException failure) {
        cycle.execute(() -> onFinished(frames, committed, failure));
    }

    private void onFinished(WriteAheadFrames frames, boolean committed, IOException failure) {
        Set<Staging> journals = new LinkedHashSet<>();
        for (WriteAheadFrames.Entry entry : frames.entries()) {
            Staging journal = (Staging) entry.covered();
            journals.add(journal);
            if (committed) {
                journal.onCommitted(entry.endOffset());
            } else {
                journal.onMissed(entry.endOffset());
            }
        }
        frames.clear();
        idle = frames;
        // The next commit starts before the appends that waited for this one get their responses.
        submit();
        journals.forEach(journal -> inform(journal, failure));
    }

    private static void inform(Staging journal, IOException failure) {
        try {
            journal.afterCommit(failure);
        } catch (RuntimeException | Error defect) {
            // The other journals of the commit are informed anyway.
            log.error("unexpected failure after a commit", defect);
        }
    }
}
