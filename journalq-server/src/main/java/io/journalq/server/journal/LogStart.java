package io.journalq.server.journal;

import io.journalq.common.check.Check;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.journal.segment.Segment;
import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The start of a journal. It advances as records are deleted or expire. The segments before it are deleted once the
 * state derived from them is stored. Owner thread only, unless a method says "any thread".
 */
final class LogStart {
    private static final Logger LOG = LoggerFactory.getLogger(LogStart.class);

    private final Path directory;
    private final SegmentList segments;
    private final LeaderEpochs epochs;
    private final JournalFlusher flusher;
    private final JournalWriter writer;
    private final DerivedState derived;
    private volatile long offset;

    LogStart(
            Path directory,
            SegmentList segments,
            LeaderEpochs epochs,
            JournalFlusher flusher,
            JournalWriter writer,
            DerivedState derived,
            long offset) {
        this.directory = directory;
        this.segments = segments;
        this.epochs = epochs;
        this.flusher = flusher;
        this.writer = writer;
        this.derived = derived;
        this.offset = offset;
    }

    /** First offset that may be read. Any thread. */
    long offset() {
        return offset;
    }

    /** See {@link Journal#deleteRecordsBefore}. */
    void moveTo(long newOffset) {
        Check.that(newOffset <= writer.writtenOffset(), "only written records are deleted");
        if (newOffset <= offset) {
            return;
        }
        offset = newOffset;
        dropOldest(countBefore());
    }

    /** See {@link Journal#applyRetention}. */
    int applyRetention(JournalConfig config, long nowMs, long committedOffset) {
        if (Retention.isRollDue(segments.newest(), config, nowMs)) {
            writer.roll(config);
        }
        Segment[] all = segments.all();
        int expired = Retention.expired(all, config, nowMs, committedOffset);
        if (expired > 0) {
            offset = Math.max(offset, all[expired].baseOffset());
        }
        int gone = Math.max(expired, countBefore());
        if (gone > 0) {
            dropOldest(gone);
        } else if (segments.isDeleting()) {
            segments.retryDeletions();
        } else if (flusher.keptStartOffset() < offset) {
            // It could not be stored before, because the disk was full, for example.
            flusher.stateChanged();
            segments.inBackground(writer::flushAndCheckpoint);
        }
        return gone;
    }

    /** Moves the start back to {@code endOffset} if the log was truncated before the start. */
    void truncateTo(long endOffset) {
        offset = Math.min(offset, endOffset);
    }

    /** Sets the start of a log without records. */
    void resetTo(long newOffset) {
        offset = newOffset;
    }

    /** Number of segments that hold nothing from the start on. */
    private int countBefore() {
        Segment[] all = segments.all();
        int count = 0;
        while (count < all.length - 1 && all[count + 1].baseOffset() <= offset) {
            count++;
        }
        return count;
    }

    private void dropOldest(int count) {
        flusher.stateChanged();
        if (count == 0) {
            segments.inBackground(writer::flushAndCheckpoint);
        } else {
            long firstBaseOffset = segments.all()[count].baseOffset();
            // Only when the segments are gone for good: if they reappear, their aborted transactions must be known too.
            segments.dropOldest(count, beforeDeletion(), () -> derived.dropBefore(firstBaseOffset));
            LOG.info("{}: deleted {} segments, the log begins at offset {}", directory, count, offset);
        }
        epochs.truncateBefore(offset);
    }

    /**
     * Without a snapshot of these records a restart knows less about producers, but no data is lost. So on a full disk
     * they are deleted anyway.
     */
    private SegmentList.Before beforeDeletion() {
        DerivedState.Snapshot snapshot = writer.isDirty() ? () -> {} : derived.snapshotOfNow();
        return () -> {
            try {
                snapshot.write();
            } catch (IOException failure) {
                LOG.warn("{}: cannot write a snapshot of producers: {}", directory, failure.toString());
            }
            return flusher.checkpointOrName();
        };
    }

    /**
     * Whether only the checkpoint shows where the log begins or ends. Then the checkpoint must be durable; otherwise
     * the names of the segments show it too. Any thread.
     */
    boolean isKeptInCheckpointOnly() {
        Segment oldest = segments.all()[0];
        boolean empty = oldest.sizeBytes() == 0 && oldest.baseOffset() > 0;
        return empty || offset > oldest.baseOffset() || segments.isDeleting();
    }
}
