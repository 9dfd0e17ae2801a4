package io.journalq.server.journal;

import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.journal.segment.BatchScanner;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentState;
import io.journalq.server.journal.wal.WriteAheadRecord;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One journal's part of {@link JournalRedo}. What its checkpoint vouches for stays as it is. When the checkpoint is damaged,
 * nobody can say what was compacted or deleted since the record was written: then healthy batches stay as they are, and
 * only what goes on behind them is written. One thread; blocks.
 */
final class RedoneJournal {
    private static final int CHUNK_BYTES = 1 << 20;
    private static final Logger LOG = LoggerFactory.getLogger(RedoneJournal.class);

    private final FileStore store;
    private final Path directory;

    /** Everything before this is on the disk as it should be. */
    private long vouchedOffset;

    private boolean checkpointDamaged;

    /** Base offsets of the segments that were written to. */
    private final Set<Long> written = new TreeSet<>();

    /** The segment that was used last; null when it is closed, or not there. */
    private LogFile file;

    private long fileBaseOffset = -1;

    /** Where the healthy batches at the segment's beginning end; 0 when it does not matter. */
    private int healthyEnd;

    private boolean told;

    RedoneJournal(FileStore store, Path directory) throws IOException {
        this.store = store;
        this.directory = directory;
        readCheckpoint();
    }

    private void readCheckpoint() throws IOException {
        Path checkpoint = directory.resolve(JournalCheckpoint.FILE_NAME);
        try {
            byte[] content = store.read(checkpoint, JournalCheckpoint.MAX_FILE_SIZE_BYTES);
            for (SegmentState segment :
                    JournalCheckpoint.decode(checkpoint, content).segments()) {
                vouchedOffset = Math.max(vouchedOffset, segment.extent().endOffset());
            }
        } catch (NoSuchFileException none) {
            LOG.debug("{} has no checkpoint yet", directory);
        } catch (CorruptJournalException bad) {
            checkpointDamaged = true;
        }
    }

    /** Writes a record to its place, unless that is not needed or not possible any more: then false. */
    boolean apply(WriteAheadRecord record) throws IOException {
        if (record.endOffset() <= vouchedOffset) {
            return false;
        }
        if (file == null || record.segmentBaseOffset() != fileBaseOffset) {
            open(record.segmentBaseOffset());
        }
        if (file == null || record.position() > file.sizeBytes()) {
            tell(record, "what was before it is gone");
            return false;
        }
        if (!mayGoOver(record)) {
            tell(record, "the checkpoint is damaged, and other batches are there");
            return false;
        }
        written.add(fileBaseOffset);
        file.write(record.data(), record.position());
        return true;
    }

    private void open(long baseOffset) throws IOException {
        closeFile();
        try {
            file = store.open(Segment.logPath(directory, baseOffset), false);
            if (checkpointDamaged && baseOffset != fileBaseOffset) {
                healthyEnd = healthyEnd(file);
            }
            fileBaseOffset = baseOffset;
        } catch (NoSuchFileException deleted) {
            file = null;
        }
    }

    private static int healthyEnd(LogFile file) throws IOException {
        int end = (int) Math.min(Integer.MAX_VALUE, file.sizeBytes());
        BatchScanner scanner = new BatchScanner(file, 0, end, CHUNK_BYTES);
        while (scanner.next() && scanner.crcMatches()) {
            // The next one may be healthy, too.
        }
        return scanner.position();
    }

    private boolean mayGoOver(WriteAheadRecord record) throws IOException {
        int overlap = Math.min(healthyEnd - record.position(), record.data().remaining());
        if (overlap <= 0) {
            return true;
        }
        ByteBuffer there = ByteBuffer.allocate(overlap);
        return file.read(there, record.position()) == overlap
                && there.flip().equals(record.data().slice(record.data().position(), overlap));
    }

    /** Once for each journal; retention on a disk without room for a checkpoint does such things. */
    private void tell(WriteAheadRecord record, String reason) {
        if (!told) {
            told = true;
            LOG.warn(
                    "{}: what was at byte {} of the segment of offset {} is not written again: {}",
                    directory,
                    record.position(),
                    record.segmentBaseOffset(),
                    reason);
        }
    }

    /** Makes what was written durable. A file that was closed meanwhile is synced as any other. */
    void sync() throws IOException {
        if (written.isEmpty()) {
            return;
        }
        closeFile();
        try {
            for (long baseOffset : written) {
                try (LogFile one = opened(Segment.logPath(directory, baseOffset))) {
                    one.sync();
                }
            }
            store.syncDirectory(directory);
        } catch (SyncNotBegunException nothingIsLost) {
            throw nothingIsLost;
        } catch (IOException failure) {
            // These files also hold what is in no write-ahead file.
            JournalFlusher.leaveFence(store, directory, failure);
            throw failure;
        }
    }

    private LogFile opened(Path log) throws SyncNotBegunException {
        try {
            return store.open(log, false);
        } catch (IOException failure) {
            throw new SyncNotBegunException(log, failure);
        }
    }

    void closeFile() {
        if (file != null) {
            try {
                file.close();
            } catch (IOException failure) {
                LOG.warn("{}: could not be closed: {}", directory, failure.toString());
            }
            file = null;
        }
    }
}
