package io.journalq.server.journal;

import io.journalq.common.check.Check;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.journal.segment.Segment;
import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a journal begins: it moves on as records are deleted or expire, and the segments before it go, once what they said
 * is kept. Owner only where it does not say "any thread".
 */
final class JournalStart {
    private static final Logger LOG = LoggerFactory.getLogger(JournalStart.class);

    private final Path directory;
    private final SegmentList segments;
    private final LeaderEpochs epochs;
    private final JournalFlusher flusher;
    private final JournalWriter writer;
    private final DerivedState derived;
    private volatile long offset;

    JournalStart(
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
        }
        return gone;
    }

    /** The log was cut there. */
    void truncateTo(long endOffset) {
        offset = Math.min(offset, endOffset);
    }

    /** Segments that hold nothing from the start on. */
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
            // Not before the segments are gone for good: who sees them again must see what was aborted in them.
            segments.dropOldest(count, beforeDeletion(), () -> derived.dropBefore(firstBaseOffset));
            LOG.info("{}: deleted {} segments, the log begins at offset {}", directory, count, offset);
        }
        epochs.truncateBefore(offset);
    }

    /** Without a snapshot of what they say a restart knows less, but nothing is lost: on a full disk they go all the same. */
    private SegmentList.Before beforeDeletion() {
        DerivedState.Snapshot snapshot = writer.isDirty() ? () -> {} : derived.snapshotOfNow();
        return () -> {
            try {
                snapshot.write();
            } catch (IOException failure) {
                LOG.warn("{}: could not write a snapshot of producers: {}", directory, failure.toString());
            }
            return flusher.checkpointOrName();
        };
    }

    /**
     * Whether only the checkpoint says where the log begins or ends: then it must be whole after a power loss, else the
     * segments' names say it too. Any thread.
     */
    boolean isKeptInCheckpointOnly() {
        Segment oldest = segments.all()[0];
        boolean empty = oldest.sizeBytes() == 0 && oldest.baseOffset() > 0;
        return empty || offset > oldest.baseOffset() || segments.isDeleting();
    }
}
