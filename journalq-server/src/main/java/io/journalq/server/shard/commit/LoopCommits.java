package io.journalq.server.shard.commit;

import io.journalq.server.journal.Journal;
import io.journalq.server.loop.LoopCycle;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** What one loop brings to the write-ahead files of each data folder. On that loop. */
public final class LoopCommits {
    private final WriteAheads writeAheads;
    private final LoopCycle cycle;
    private final Map<Path, LoopCommit> byFolder = new HashMap<>();

    public LoopCommits(WriteAheads writeAheads, LoopCycle cycle) {
        this.writeAheads = writeAheads;
        this.cycle = cycle;
    }

    /** Begins to cover a journal; null when its folder has no write-ahead files. */
    public Coverage cover(Journal journal, Coverage.Owner owner) {
        LoopCommit commit =
                byFolder.computeIfAbsent(journal.directory().getParent(), folder -> writeAheads.forLoop(cycle, folder));
        return commit == null ? null : new Coverage(commit, journal, owner);
    }
}
