package io.journalq.server.journal.compaction;

import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentSwap;
import io.journalq.server.journal.transaction.TransactionIndex;
import java.io.IOException;
import java.nio.file.Path;

/** A log that is compacted: the view of it that compaction has. Any thread, unless a method says otherwise. */
public interface CompactedLog {
    Path directory();

    /** In ascending order; the last one is the active segment. */
    Segment[] segments();

    CompactionConfig config();

    /** A segment is closed before it would exceed this size. */
    int segmentSizeBytes();

    int indexIntervalBytes();

    /** All records before this offset are durable. */
    long flushedOffset();

    /** Records before this offset were compacted at least once. */
    long compactedOffset();

    TransactionIndex abortedTransactions();

    /**
     * Makes all records written up to now durable, together with the state derived from them, before some of the
     * records are removed: compaction keeps only the newest batch of each producer. Blocks.
     *
     * @param owner of the log
     * @return false if the log is closed or has staged batches
     */
    boolean keepDerivedState(CompactionJob.Owner owner) throws IOException;

    /** Records that the log is compacted up to {@code offset}. One call at a time; blocks. */
    void compactedUpTo(long offset) throws IOException;

    /**
     * Makes durable which files exist, and that the newest segment has one. Required before a swap begins: if a crash
     * left no segment behind the new one, the new one would be the newest, and recovery would treat a batch behind a
     * gap as a torn write. Blocks.
     *
     * @throws IOException if the disk failed, now or earlier
     */
    void syncDirectory() throws IOException;

    /**
     * Lists the new segment of {@code swap} instead of the old ones. The log's owner only.
     *
     * @return false if some of the old ones are no longer listed
     */
    boolean beginSwap(SegmentSwap swap) throws IOException;

    /** Completes the swap that was begun last, also after a failure. Blocks. */
    void completeSwap() throws IOException;
}
