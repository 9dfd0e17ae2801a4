package io.journalq.server.shard.flush;

import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.wal.CoveredJournal;
import io.journalq.server.journal.wal.WriteAheadLog;
import io.journalq.server.loop.LoopCycle;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;

/** The write-ahead files of all data directories. Immutable; any thread. */
public final class WalSyncers {
    /** Instead of a journal that is not open. */
    private static final CoveredJournal CLOSED = new CoveredJournal() {
        @Override
        public long flushedOffset() {
            return 0;
        }

        @Override
        public boolean isGone() {
            return true;
        }

        @Override
        public void flushSoon() {}
    };

    private final Map<Path, WalSyncer> byDirectory = new HashMap<>();
    private final int loopCount;

    /**
     * Creates an instance without files; they are created when they are needed.
     *
     * @param sizeBytes room for the files of one data directory; 0 for none, in which case only the journals are synced
     * @param loopCount number of loops that share them
     */
    public WalSyncers(
            FileStore store,
            List<Path> dataDirectories,
            long sizeBytes,
            int loopCount,
            Executor blockingPool,
            Clock clock) {
        this.loopCount = loopCount;
        for (Path directory : sizeBytes == 0 ? List.<Path>of() : dataDirectories) {
            byDirectory.put(
                    directory, new WalSyncer(new WriteAheadLog(store, directory, sizeBytes), blockingPool, clock));
        }
    }

    /** The buffer of one loop for the files of a data directory; null if there are none. Called once for each loop. */
    WalLoopBuffer newBuffer(LoopCycle cycle, Path dataDirectory) {
        WalSyncer syncer = byDirectory.get(dataDirectory);
        return syncer == null ? null : new WalLoopBuffer(syncer, cycle, loopCount);
    }

    /**
     * Makes what the files have of a journal void, before another one is created in its directory. The journal is not
     * open. Any thread; blocks.
     *
     * @throws IOException if that is not possible now
     */
    public void forgetWrites(Path journalDirectory) throws IOException {
        WalSyncer syncer = byDirectory.get(journalDirectory.getParent());
        String name = String.valueOf(journalDirectory.getFileName());
        if (syncer != null && syncer.mayHold(name)) {
            syncer.cut(CLOSED, name, 0);
        }
    }

    /** A journal was deleted, and no other one gets its directory. Any thread. */
    public void forgetDeleted(String directoryName) {
        byDirectory.values().forEach(syncer -> syncer.forget(directoryName));
    }

    /** Whether the files may hold writes of a journal that is or was in this directory, and that are not void. Any thread. */
    public boolean mayHold(Path journalDirectory) {
        WalSyncer syncer = byDirectory.get(journalDirectory.getParent());
        return syncer != null && syncer.mayHold(String.valueOf(journalDirectory.getFileName()));
    }

    /** Stops all writes in a data directory. Any thread; may block. */
    public void fail(Path dataDirectory, IOException reason) {
        WalSyncer syncer = byDirectory.get(dataDirectory);
        if (syncer != null) {
            syncer.fail(reason);
        }
    }

    /** Closes the files after every journal is closed. Blocks. */
    public void close() {
        byDirectory.values().forEach(WalSyncer::close);
    }

    /** The buffers of one loop for the write-ahead files, one for each data directory. On that loop. */
    public static final class WalLoopBuffers {
        private final WalSyncers syncers;
        private final LoopCycle cycle;
        private final Map<Path, WalLoopBuffer> byDirectory = new HashMap<>();

        public WalLoopBuffers(WalSyncers syncers, LoopCycle cycle) {
            this.syncers = syncers;
            this.cycle = cycle;
        }

        /** Whether the write-ahead files may hold writes of a journal, from before it was opened. */
        boolean mayHold(Journal journal) {
            return syncers.mayHold(journal.directory());
        }

        /** Starts to cover a journal; null if its data directory has no write-ahead files. */
        WalCoverage cover(Journal journal, WalCoverage.Listener listener) {
            WalLoopBuffer buffer = byDirectory.computeIfAbsent(
                    journal.directory().getParent(), directory -> syncers.newBuffer(cycle, directory));
            return buffer == null ? null : new WalCoverage(buffer, journal, listener);
        }
    }
}
