package io.journalq.server.journal.compaction;

import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentSwap;
import io.journalq.server.journal.transaction.TransactionIndex;
import java.io.IOException;
import java.nio.file.Path;

/** A log that is compacted: what compaction reads of it and does to it. Any thread but where it says otherwise. */
public interface CompactedLog {
    Path directory();

    /** In ascending order; the last one is still written to. */
    Segment[] segments();

    CompactionConfig config();

    /** A segment is closed before it would exceed this. */
    int segmentSizeBytes();

    int indexIntervalBytes();

    /** Everything before this is on the disk. */
    long flushedOffset();

    /** What lies before this was compacted at least once. */
    long compactedOffset();

    TransactionIndex abortedTransactions();

    /**
     * Makes durable everything up to now, and what is known besides the records, before some of them go: of a producer
     * only the newest batch is left then. Blocks.
     *
     * @param owner of the log
     * @return false when it has gone, or has something staged
     */
    boolean keepDerivedState(CompactionJob.Owner owner) throws IOException;

    /** Compaction came as far as {@code offset}. One at a time; blocks. */
    void compactedUpTo(long offset) throws IOException;

    /**
     * Makes durable which files there are. Before a swap begins: without the segment behind it the new one would be the
     * newest after a power loss, and of the newest a batch behind a gap is taken for what a torn write left. Blocks.
     *
     * @throws IOException when the disk failed, now or earlier
     */
    void syncDirectory() throws IOException;

    /**
     * Lists the new segment of {@code swap} in place of the old ones. The log's owner only.
     *
     * @return false when some of them are gone
     */
    boolean beginSwap(SegmentSwap swap) throws IOException;

    /** Carries through the swap that was begun last, also after a failure. Blocks. */
    void completeSwap() throws IOException;
}
