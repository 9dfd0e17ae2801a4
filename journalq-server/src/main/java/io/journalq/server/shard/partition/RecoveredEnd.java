package io.journalq.server.shard.partition;

import io.journalq.server.journal.Journal;
import io.journalq.server.journal.segment.LeaderEpochs.EpochEndOffset;

/**
 * Where a partition ended when the broker started. A power loss may have taken later records. An offset that was
 * committed for a lost record must not be used as a position among the records that are appended now, which have newer
 * leader epochs. Any thread.
 */
public final class RecoveredEnd {
    private final Journal journal;
    private final long endOffset;
    private final int leaderEpoch;

    /** @param leaderEpoch of the records that are appended from now on */
    RecoveredEnd(Journal journal, long endOffset, int leaderEpoch) {
        this.journal = journal;
        this.endOffset = endOffset;
        this.leaderEpoch = leaderEpoch;
    }

    /**
     * Offset behind the last record of {@code epoch} or an older one.
     *
     * @param epoch -1 for all
     */
    public long of(int epoch) {
        EpochEndOffset end = journal.epochs().endOffsetOf(epoch, journal.writtenOffset());
        return end.epoch() < 0 ? endOffset : Math.min(endOffset, end.endOffset());
    }

    /**
     * Like {@link #of}, for positions that may have been committed after the start. Epochs after that end have no end
     * here.
     */
    public long ofOlder(int epoch) {
        return epoch >= leaderEpoch ? Long.MAX_VALUE : of(epoch);
    }
}
