package io.journalq.server.shard.commit;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.wal.WriteAheadLog;
import io.journalq.server.loop.LoopCycle;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;

/** The write-ahead files of every data folder. Immutable; any thread. */
public final class WriteAheads {
    private final Map<Path, GroupCommit> commits = new HashMap<>();
    private final int loopCount;

    /**
     * Prepares them; no file is made before one is needed.
     *
     * @param sizeBytes room for those of one folder; 0 for none: then journals are synced themselves
     * @param loopCount how many loops share them
     */
    public WriteAheads(
            FileStore store,
            List<Path> dataDirectories,
            long sizeBytes,
            int loopCount,
            Executor blockingPool,
            Clock clock) {
        this.loopCount = loopCount;
        for (Path directory : sizeBytes == 0 ? List.<Path>of() : dataDirectories) {
            commits.put(
                    directory, new GroupCommit(new WriteAheadLog(store, directory, sizeBytes), blockingPool, clock));
        }
    }

    /** What the loop of {@code cycle} brings to the files of a folder; null when there are none. One for each loop. */
    LoopCommit forLoop(LoopCycle cycle, Path dataDirectory) {
        GroupCommit commit = commits.get(dataDirectory);
        return commit == null ? null : new LoopCommit(commit, cycle, loopCount);
    }

    /** Those of a data directory take nothing more. Any thread; may block. */
    public void fail(Path dataDirectory, IOException reason) {
        GroupCommit commit = commits.get(dataDirectory);
        if (commit != null) {
            commit.fail(reason);
        }
    }

    /** Closes them, once every journal is closed. Blocks. */
    public void close() {
        commits.values().forEach(GroupCommit::close);
    }
}
