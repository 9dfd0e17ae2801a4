package io.journalq.server.journal;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.read.JournalReads;
import io.journalq.server.journal.segment.EpochCheck;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.journal.segment.RecoveryRules;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentRecovery;
import io.journalq.server.journal.segment.SegmentSwap;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The segments of one journal in ascending order, at least one; the last is the active segment. Only the journal's
 * owner changes the list, and each change creates a new array. Any thread may read it.
 */
final class SegmentList {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentList.class);

    private final FileStore store;
    private final Path directory;
    private final JournalReads reads;
    private final Executor background;
    /** Deletions in progress, oldest first. Null until segments are deleted for the first time. */
    private volatile Queue<Deletion> deletions;

    /** Whether the last run of the deletions has not completed them. */
    private volatile boolean deletionFailed;

    private volatile Segment[] segments;
    private volatile long deleteDelayMs;

    SegmentList(FileStore store, Path directory, Segment[] recovered, JournalReads reads, Executor background) {
        this.store = store;
        this.directory = directory;
        this.segments = recovered;
        this.reads = reads;
        this.background = background;
    }

    /** Sets how long later deletions keep the renamed files. */
    void setDeleteDelayMs(long delayMs) {
        deleteDelayMs = delayMs;
    }

    /** All segments; callers must not change the array. Any thread. */
    Segment[] all() {
        return segments;
    }

    /** The active segment. Any thread. */
    Segment newest() {
        Segment[] now = segments;
        return now[now.length - 1];
    }

    /** Any thread. */
    long sizeBytes() {
        long total = 0;
        for (Segment segment : segments) {
            total += segment.sizeBytes();
        }
        return total;
    }

    /** See {@link Journal#newestTimestampMs}. Any thread. */
    long newestTimestampMs() {
        long newest = -1;
        for (Segment segment : segments) {
            newest = Math.max(newest, segment.maxTimestampMs());
        }
        return newest;
    }

    /**
     * All segments, each with a reference that the caller releases, because a swap may remove them from the list. Any
     * thread.
     */
    Segment[] retainAll() {
        while (true) {
            Segment[] all = segments;
            int held = 0;
            while (held < all.length && all[held].tryRetain()) {
                held++;
            }
            if (held == all.length) {
                return all;
            }
            for (int i = 0; i < held; i++) {
                all[i].release();
            }
            if (all == segments) {
                return new Segment[0]; // Closed.
            }
        }
    }

    /** Starts the next segment behind the newest. */
    void roll(long baseOffset, int indexIntervalBytes) {
        Segment[] now = segments;
        Segment[] more = Arrays.copyOf(now, now.length + 1);
        more[now.length] = Segment.following(store, directory, baseOffset, indexIntervalBytes);
        segments = more;
        if (now.length > 1) {
            // Two segments stay open: consumers close to the tail still read the closed one.
            reads.opened(now[now.length - 2]);
        }
    }

    /** Makes the required data durable before records are deleted. */
    @FunctionalInterface
    interface Before {
        /**
         * Blocks.
         *
         * @return whether the start of the log is stored; otherwise only the remaining files show it
         */
        boolean makeDurable() throws IOException;
    }

    /**
     * Removes the oldest {@code count} segments, but not all, from the list, and deletes their files later. The files
     * are deleted only after the checkpoint stores where the log begins and ends without them. Otherwise a power loss
     * could take this information together with the files. A deletion that fails is completed by
     * {@link #retryDeletions}, the next deletion, or the next start.
     *
     * @param after runs once no crash can bring the segments back
     */
    void dropOldest(int count, Before before, Runnable after) {
        Segment[] all = segments;
        List<Segment> dropped = List.of(Arrays.copyOf(all, count));
        segments = Arrays.copyOfRange(all, count, all.length);
        dropped.forEach(reads::forget);
        Deletion deletion = new Deletion(dropped, before, after);
        if (deletions == null) {
            deletions = new ConcurrentLinkedQueue<>();
        }
        deletions.add(deletion);
        if (!inBackground(this::deleteDropped)) {
            deletion.release();
        }
    }

    /** Completes the deletions if the last one has failed, such as while too many files were open. */
    void retryDeletions() {
        if (deletionFailed) {
            inBackground(this::deleteDropped);
        }
    }

    /** Whether a crash may bring back segments that are no longer in the list. Any thread. */
    boolean isDeleting() {
        Queue<Deletion> begun = deletions;
        return begun != null && !begun.isEmpty();
    }

    /** The segments that a crash may bring back, oldest first. Any thread. */
    List<Segment> beingDeleted() {
        Queue<Deletion> begun = deletions;
        if (begun == null) {
            return List.of();
        }
        return begun.stream().flatMap(deletion -> deletion.dropped.stream()).toList();
    }

    /**
     * Runs the deletions in order, on whichever thread comes first, so that no older segment remains without those
     * behind it.
     */
    private void deleteDropped() {
        synchronized (this) {
            deletionFailed = true; // Also after an error, such as too little direct memory.
            for (Deletion oldest = deletions.peek(); oldest != null; oldest = deletions.peek()) {
                try {
                    oldest.renameSegments();
                } catch (IOException failure) {
                    LOG.error(
                            "{}: keeping deleted segments until the next check of retention: {}",
                            directory,
                            failure.toString());
                    return;
                }
                deletions.remove();
                oldest.release();
                oldest.after.run();
                List<Segment> dropped = oldest.dropped;
                if (deleteDelayMs == 0) {
                    dropped.forEach(this::deleteRenamed);
                } else {
                    deleteLater(() -> dropped.forEach(this::deleteRenamed));
                }
            }
            deletionFailed = false;
        }
    }

    /** Segments that are being deleted. */
    private final class Deletion {
        private final List<Segment> dropped;
        private final Before before;
        private final Runnable after;
        private boolean released;

        Deletion(List<Segment> dropped, Before before, Runnable after) {
            this.dropped = dropped;
            this.before = before;
            this.after = after;
        }

        void renameSegments() throws IOException {
            boolean startIsKept = before.makeDurable();
            for (Segment segment : dropped) {
                segment.rename();
                if (!startIsKept) {
                    // A power loss must not leave an older segment without those behind it.
                    store.syncDirectory(directory);
                }
            }
            store.syncDirectory(directory);
        }

        /** Closes the segments. Readers keep the files that they have open. */
        void release() {
            if (!released) {
                released = true;
                dropped.forEach(Segment::release);
            }
        }
    }

    private void deleteRenamed(Segment segment) {
        try {
            segment.deleteRenamed();
        } catch (IOException failure) {
            LOG.error("{}: cannot delete it: {}", segment.logPath(), failure.toString());
        }
    }

    /**
     * Removes every batch that reaches behind {@code offset}, from the end of the log on, so that a crash leaves no gap.
     * All segments must be settled. Durable when this returns. Blocks.
     *
     * @return the offset behind the last remaining batch
     */
    long truncateTo(long offset) throws IOException {
        Segment[] all = segments;
        int at = JournalReads.segmentAt(all, Math.max(offset, all[0].baseOffset()));
        Segment cut = all[at];
        int position = cut.locate(offset, cut.index().floorByOffset(offset));
        for (int i = all.length - 1; i > at; i--) {
            removeNewest(all[i]);
        }
        reads.forget(cut);
        Segment[] left = Arrays.copyOf(all, at + 1);
        left[at] = cutSegment(cut, position);
        segments = left;
        return left[at].endOffset();
    }

    private void removeNewest(Segment newest) throws IOException {
        reads.forget(newest);
        newest.rename();
        segments = Arrays.copyOf(segments, segments.length - 1);
        newest.release();
        store.syncDirectory(directory);
        deleteLater(() -> deleteRenamed(newest));
    }

    private Segment cutSegment(Segment segment, int position) throws IOException {
        Segment rest = new Segment(store, directory, segment.baseOffset(), segment.indexIntervalBytes());
        if (segment.sizeBytes() > 0) {
            // It would not match the batches that replace the removed ones.
            segment.deleteIndex();
            store.syncDirectory(directory);
            rest.file().truncate(position);
            EpochCheck noEpochs = new EpochCheck(new LeaderEpochs(), Integer.MAX_VALUE);
            SegmentRecovery.Position place = SegmentRecovery.Position.SYNCED;
            new SegmentRecovery(rest, position, place, Long.MAX_VALUE, noEpochs, () -> false, RecoveryRules.ALONE)
                    .run();
            rest.file().sync();
        }
        segment.release();
        return rest;
    }

    /**
     * Replaces the segments that {@code swap} was made from with its new segment.
     *
     * @return false, without any change, if some of them are no longer in the list
     */
    boolean swap(SegmentSwap swap) throws IOException {
        Segment[] all = segments;
        int first = Arrays.asList(all).indexOf(swap.replaced().get(0));
        int count = swap.replaced().size();
        if (first < 0
                || first + count >= all.length
                || !Arrays.asList(all).subList(first, first + count).equals(swap.replaced())) {
            return false;
        }
        swap.begin();
        Segment[] now = new Segment[all.length - count + 1];
        System.arraycopy(all, 0, now, 0, first);
        now[first] = swap.cleaned();
        System.arraycopy(all, first + count, now, first + 1, all.length - first - count);
        segments = now;
        swap.replaced().forEach(reads::forget);
        return true;
    }

    /**
     * Replaces all segments with an empty one.
     *
     * @return the segments that were replaced, for {@link #deleteReplaced}
     */
    List<Segment> resetTo(long offset, int indexIntervalBytes) {
        List<Segment> replaced = List.of(segments);
        segments = new Segment[] {new Segment(store, directory, offset, indexIntervalBytes)};
        return replaced;
    }

    /** Deletes segments that are no longer in the list. Their names are gone when this returns. Blocks. */
    void deleteReplaced(List<Segment> replaced) throws IOException {
        replaced.forEach(reads::forget);
        try {
            for (Segment segment : replaced) {
                segment.rename();
            }
        } finally {
            replaced.forEach(Segment::release);
        }
        deleteLater(() -> replaced.forEach(this::deleteRenamed));
    }

    /** Closes every file. The list does not change. */
    void release() {
        for (Segment segment : segments) {
            segment.release();
        }
        synchronized (this) {
            if (deletions != null) {
                deletions.forEach(Deletion::release);
            }
        }
    }

    /**
     * Runs the deletion of renamed files in the background. The next start deletes files that remain when the process
     * stops.
     */
    void deleteLater(Runnable deletion) {
        long delayMs = deleteDelayMs;
        if (delayMs == 0) {
            inBackground(deletion);
        } else {
            CompletableFuture.delayedExecutor(delayMs, TimeUnit.MILLISECONDS, background)
                    .execute(deletion);
        }
    }

    /**
     * Runs blocking work in the background. Returns false if the process is stopping; the next start then completes the
     * work.
     */
    boolean inBackground(Runnable work) {
        try {
            background.execute(work);
            return true;
        } catch (RejectedExecutionException stopping) {
            LOG.debug("{}: stopping, the checkpoint is written on close", directory);
            return false;
        }
    }
}
