package io.journalq.server.shard.flush;

import io.journalq.server.journal.Journal;
import io.journalq.server.loop.LoopCycle;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The buffers of one loop for the write-ahead files, one for each data directory. On that loop. */
public final class WalLoopBuffers {
    private final WalSyncers syncers;
    private final LoopCycle cycle;
    private final Map<Path, WalLoopBuffer> byDirectory = new HashMap<>();

    public WalLoopBuffers(WalSyncers syncers, LoopCycle cycle) {
        this.syncers = syncers;
        this.cycle = cycle;
    }

    /** Starts to cover a journal; null if its data directory has no write-ahead files. */
    WalCoverage cover(Journal journal, WalCoverage.Listener listener) {
        WalLoopBuffer buffer = byDirectory.computeIfAbsent(
                journal.directory().getParent(), directory -> syncers.newBuffer(cycle, directory));
        return buffer == null ? null : new WalCoverage(buffer, journal, listener);
    }
}
