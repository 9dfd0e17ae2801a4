package io.journalq.server.shard;

import io.journalq.server.journal.Journal;
import io.journalq.server.journal.segment.EpochEndOffset;

/**
 * Where a partition ended when the broker started. A power loss may have taken what came behind that, and what was
 * committed there must not be taken for a position among the records that come instead: those are of newer leader epochs.
 * Any thread.
 */
public final class RecoveredEnd {
    private final Journal journal;
    private final long endOffset;

    RecoveredEnd(Journal journal, long endOffset) {
        this.journal = journal;
        this.endOffset = endOffset;
    }

    /**
     * Offset behind the last record of {@code leaderEpoch} or an older one.
     *
     * @param leaderEpoch -1 for all
     */
    public long of(int leaderEpoch) {
        EpochEndOffset end = journal.endOffsetForEpoch(leaderEpoch);
        return end.epoch() < 0 ? endOffset : Math.min(endOffset, end.endOffset());
    }
}
