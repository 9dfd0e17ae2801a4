package io.journalq.server.shard;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.segment.EpochEndOffset;
import io.journalq.server.replication.PartitionTransactions;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One partition's log as its readers see it: up to the high watermark or, where they want committed records only, up to
 * the last stable offset; and the readers that wait for these to move. On the partition's loop.
 */
final class ReadableLog {
    private static final Logger log = LoggerFactory.getLogger(ReadableLog.class);

    private final TopicPartition name;
    private final Journal journal;
    private final PartitionTransactions transactions;
    private final ArmedReaders readers = new ArmedReaders();
    private final ArmedReaders committedReaders = new ArmedReaders();
    private long highWatermark;

    /** What was appended here and is before the high watermark. */
    private long readableBytes;

    /** What was appended here and is behind it. */
    private long unreadableBytes;

    /** All that was recovered can be read: what a restart finds, it flushes or has flushed. */
    ReadableLog(RecoveredPartition recovered) {
        this.name = recovered.name();
        this.journal = recovered.journal();
        this.transactions = recovered.transactions();
        this.highWatermark = journal.endOffset();
    }

    /** See {@link PartitionHost#highWatermark}. */
    long highWatermark() {
        return highWatermark;
    }

    /** See {@link PartitionHost#lastStableOffset}. */
    long lastStableOffset() {
        long unstable = Math.max(transactions.firstUnstableOffset(), journal.startOffset());
        return Math.min(highWatermark, unstable);
    }

    /** Offset behind the last record that readers see, of committed records or of all. */
    long visibleOffset(boolean committed) {
        return committed ? lastStableOffset() : highWatermark;
    }

    /** Bytes are counted up to the high watermark only: before an open transaction their number is not known. */
    private long visibleBytes(boolean committed) {
        return visibleOffset(committed) == highWatermark ? readableBytes : PartitionReader.UNKNOWN_BYTES;
    }

    /** There is more behind the high watermark, which becomes readable when that moves. */
    void onAppended(int sizeBytes) {
        unreadableBytes += sizeBytes;
    }

    /** Shows readers what is before {@code offset}, and tells those that wait for it. */
    void advanceTo(long offset) {
        if (offset == highWatermark) {
            return;
        }
        long stableOffset = lastStableOffset();
        highWatermark = offset;
        transactions.onHighWatermark(offset);
        readableBytes += unreadableBytes;
        unreadableBytes = 0;
        readers.fire(visibleOffset(false), visibleBytes(false));
        if (lastStableOffset() > stableOffset) {
            committedReaders.fire(visibleOffset(true), visibleBytes(true));
        }
    }

    /** See {@link PartitionHost#read}; the reader's idea of the current epoch is the right one. */
    PartitionRead read(
            long offset, int lastFetchedEpoch, int maxSizeBytes, boolean atLeastOneBatch, boolean readCommitted) {
        if (lastFetchedEpoch >= 0) {
            EpochEndOffset end = journal.endOffsetForEpoch(lastFetchedEpoch);
            if (end.epoch() < lastFetchedEpoch || end.endOffset() < offset) {
                return found(ErrorCode.NONE, null, null, end);
            }
        }
        if (offset < journal.startOffset() || offset > journal.endOffset()) {
            return found(ErrorCode.OFFSET_OUT_OF_RANGE, null, null, null);
        }
        long visible = visibleOffset(readCommitted);
        if (offset >= visible || (maxSizeBytes <= 0 && !atLeastOneBatch)) {
            return found(ErrorCode.NONE, null, null, null);
        }
        try {
            JournalSlice slice = journal.read(offset, visible, maxSizeBytes, atLeastOneBatch);
            if (slice.isEmpty()) {
                return found(ErrorCode.NONE, null, null, null);
            }
            AbortedLookup aborted = readCommitted ? new AbortedLookup(journal, offset, slice) : null;
            return found(ErrorCode.NONE, slice, aborted, null);
        } catch (IOException failure) {
            log.error("cannot read: partition={} offset={}", name, offset, failure);
            return PartitionRead.failed(ErrorCode.KAFKA_STORAGE_ERROR);
        }
    }

    private PartitionRead found(ErrorCode error, JournalSlice slice, AbortedLookup aborted, EpochEndOffset diverging) {
        return new PartitionRead(
                error, highWatermark, lastStableOffset(), journal.startOffset(), slice, aborted, diverging);
    }

    /** See {@link PartitionHost#markRead}. */
    void markRead(PartitionReader reader) {
        boolean committed = reader.readsCommitted();
        reader.see(visibleOffset(committed), visibleBytes(committed));
    }

    /** Whether there is something that was not there at the reader's last read. */
    boolean hasNewsFor(PartitionReader reader) {
        return reader.hasUnseen(visibleOffset(reader.readsCommitted()));
    }

    /** Tells {@code reader} now; it waits no more. */
    void tell(PartitionReader reader) {
        boolean committed = reader.readsCommitted();
        ArmedReaders.disarm(reader);
        reader.onNews(reader.takeGrowth(visibleOffset(committed), visibleBytes(committed)));
    }

    /** Has {@code reader} told of the next news. */
    void arm(PartitionReader reader) {
        (reader.readsCommitted() ? committedReaders : readers).add(reader);
    }

    /** Tells every reader that waits: of a new first offset, or of the partition's end. */
    void tellAll() {
        readers.fire(visibleOffset(false), visibleBytes(false));
        committedReaders.fire(visibleOffset(true), visibleBytes(true));
    }
}
