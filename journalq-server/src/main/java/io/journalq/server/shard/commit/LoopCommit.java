package io.journalq.server.shard.commit;

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
 * What one loop brings to the write-ahead files of one data folder: what its journals write while a commit is under way is
 * gathered, and goes into the next one, all together. On that loop.
 */
final class LoopCommit {
    private static final Logger log = LoggerFactory.getLogger(LoopCommit.class);

    private final GroupCommit group;
    private final LoopCycle cycle;
    private final Runnable submit = this::submit;
    private WriteAheadFrames gathered;
    private WriteAheadFrames idle;
    private boolean registered;

    LoopCommit(GroupCommit group, LoopCycle cycle, int loopCount) {
        this.group = group;
        this.cycle = cycle;
        int maxSizeBytes = group.maxFramesSizeBytes(loopCount);
        this.gathered = new WriteAheadFrames(maxSizeBytes);
        this.idle = new WriteAheadFrames(maxSizeBytes);
    }

    IOException failure() {
        return group.failure();
    }

    /** Runs {@code work} on the loop. Any thread. */
    void enqueue(Runnable work) {
        cycle.enqueue(work);
    }

    /** Takes in what was written; false when there is no room until the next commit. */
    boolean stage(
            WriteAheadFrames.Entry entry, byte[] folder, long segmentBaseOffset, int position, List<ByteBuf> batches) {
        if (!gathered.add(entry, folder, segmentBaseOffset, position, batches)) {
            return false;
        }
        if (!registered) {
            registered = true;
            cycle.onWakeUp(submit);
        }
        return true;
    }

    private void submit() {
        registered = false;
        if (idle == null || gathered.isEmpty()) {
            return;
        }
        WriteAheadFrames frames = gathered;
        gathered = idle;
        idle = null;
        group.submit(this, frames);
    }

    /** What became of frames: any thread. */
    void finish(WriteAheadFrames frames, boolean committed, IOException failure) {
        cycle.execute(() -> onFinished(frames, committed, failure));
    }

    private void onFinished(WriteAheadFrames frames, boolean committed, IOException failure) {
        Set<Coverage> told = new LinkedHashSet<>();
        for (WriteAheadFrames.Entry entry : frames.entries()) {
            Coverage coverage = (Coverage) entry.covered();
            told.add(coverage);
            if (committed) {
                coverage.onCommitted(entry.endOffset());
            } else {
                coverage.onMissed(entry.endOffset());
            }
        }
        frames.clear();
        idle = frames;
        // The next commit is under way while those that wait for this one are answered.
        submit();
        told.forEach(coverage -> tell(coverage, failure));
    }

    private static void tell(Coverage coverage, IOException failure) {
        try {
            if (failure != null) {
                coverage.onFailure(failure);
            } else {
                coverage.tellOwner();
            }
        } catch (RuntimeException | Error defect) {
            // The other journals of the commit hear of it all the same.
            log.error("unexpected failure after a commit", defect);
        }
    }
}
