package io.journalq.server.shard.flush;

import io.journalq.server.journal.wal.CoveredJournal;
import io.journalq.server.journal.wal.WriteAheadFrames;
import io.journalq.server.journal.wal.WriteAheadLog;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the frames of all loops into the write-ahead files of one data directory and fsyncs them: one commit at a
 * time, and frames that arrive during a commit go into the next one. Any thread; the commits run in the blocking pool.
 */
final class WalSyncer {
    /** Minimum time between two attempts to create a file on a full disk, in milliseconds. */
    private static final long RETRY_MS = 10_000;

    /** Room for the longest name of a directory. */
    private static final int CUT_CAPACITY_BYTES = 1 << 10;

    private static final Logger log = LoggerFactory.getLogger(WalSyncer.class);

    private final WriteAheadLog files;
    private final Executor blockingPool;
    private final Clock clock;
    private final List<Submission> submitted = new ArrayList<>();
    /** The names of the directories of journals with writes in the files that may not be void. */
    private final Set<String> written = ConcurrentHashMap.newKeySet();

    private boolean runs;
    private boolean makesSpare;
    private long nextTryMs;

    /** Gets its frames back after their commit. */
    @FunctionalInterface
    interface Submitter {
        /**
         * Called once for each submission, on any thread.
         *
         * @param committed whether the frames are durable in the write-ahead files
         * @param failure why nothing becomes durable any more; null if only these frames were not accepted
         */
        void onCommitted(WriteAheadFrames frames, boolean committed, IOException failure);
    }

    private record Submission(Submitter from, WriteAheadFrames frames) {}

    WalSyncer(WriteAheadLog files, Executor blockingPool, Clock clock) {
        this.files = files;
        this.blockingPool = blockingPool;
        this.clock = clock;
    }

    int maxFramesSizeBytes(int loopCount) {
        return files.maxFramesSizeBytes(loopCount);
    }

    /** Why nothing is committed any more; null while commits continue. */
    IOException failure() {
        return files.failure();
    }

    /** Whether the files may hold writes of a journal that are not void, perhaps from before it was last opened. */
    boolean mayHold(String directoryName) {
        return written.contains(directoryName);
    }

    /** A journal is about to submit its first write. */
    void onFirstWrite(String directoryName) {
        written.add(directoryName);
    }

    /** A journal was deleted, and no other one gets its directory. */
    void forget(String directoryName) {
        written.remove(directoryName);
    }

    /**
     * Makes the earlier records of a journal void. None of them is on its way. Blocks.
     *
     * @param offset the offset to which the journal is about to be truncated
     * @throws IOException if that is not durable in the write-ahead files
     */
    void cut(CoveredJournal journal, String directoryName, long offset) throws IOException {
        WriteAheadFrames frames = new WriteAheadFrames(CUT_CAPACITY_BYTES);
        if (!frames.addCut(journal, directoryName.getBytes(StandardCharsets.UTF_8), offset) || !commitNow(frames)) {
            throw new IOException("a truncation cannot be recorded in the write-ahead files now");
        }
        written.remove(directoryName);
    }

    /** Commits {@code frames}, which are then returned to {@code from}. */
    void submit(Submitter from, WriteAheadFrames frames) {
        synchronized (this) {
            submitted.add(new Submission(from, frames));
            if (runs) {
                return;
            }
            runs = true;
        }
        try {
            blockingPool.execute(this::run);
        } catch (RejectedExecutionException stopping) {
            finish(takeAndEnd(), false, null);
        }
    }

    /**
     * Commits {@code frames} on this thread, behind all commits that have begun. Blocks.
     *
     * @return whether they are durable in the write-ahead files
     */
    private boolean commitNow(WriteAheadFrames frames) throws IOException {
        boolean committed = files.commit(List.of(frames));
        startSpare();
        return committed;
    }

    private void run() {
        for (List<Submission> next = take(); !next.isEmpty(); next = take()) {
            commit(next);
            startSpare();
        }
    }

    private void commit(List<Submission> all) {
        boolean committed = false;
        IOException failure = null;
        try {
            committed = files.commit(all.stream().map(Submission::frames).toList());
        } catch (IOException failed) {
            failure = failed;
        } catch (RuntimeException | Error defect) {
            log.error("unexpected failure of a commit, syncing the journals instead", defect);
        }
        finish(all, committed, failure);
    }

    /** The submissions of the next commit. If there are none, the next submission starts a new run. */
    private synchronized List<Submission> take() {
        List<Submission> taken = List.copyOf(submitted);
        submitted.clear();
        runs = !taken.isEmpty();
        return taken;
    }

    private synchronized List<Submission> takeAndEnd() {
        List<Submission> taken = take();
        runs = false;
        return taken;
    }

    private static void finish(List<Submission> all, boolean committed, IOException failure) {
        all.forEach(one -> one.from().onCommitted(one.frames(), committed, failure));
    }

    private void startSpare() {
        synchronized (this) {
            if (makesSpare || !files.wantsSpare() || clock.millis() < nextTryMs) {
                return;
            }
            makesSpare = true;
        }
        try {
            blockingPool.execute(this::makeSpare);
        } catch (RejectedExecutionException busy) {
            log.debug("no thread is available to create a write-ahead file");
            endSpare(RETRY_MS);
        }
    }

    private void makeSpare() {
        long retryMs = RETRY_MS;
        try {
            files.makeSpare();
            retryMs = 0;
        } catch (IOException failure) {
            log.warn("cannot create a write-ahead file, syncing the journals instead: {}", failure.toString());
        } catch (RuntimeException | Error defect) {
            log.error("unexpected failure while creating a write-ahead file, syncing the journals instead", defect);
        }
        endSpare(retryMs);
    }

    private synchronized void endSpare(long retryMs) {
        makesSpare = false;
        nextTryMs = clock.millis() + retryMs;
    }

    /** Stops all commits. May block. */
    void fail(IOException reason) {
        files.fail(reason);
    }

    void close() {
        try {
            files.close();
        } catch (IOException failure) {
            log.error("cannot close the write-ahead files", failure);
        }
    }
}
