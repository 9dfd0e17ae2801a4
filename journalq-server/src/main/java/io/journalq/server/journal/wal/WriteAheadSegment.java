package io.journalq.server.journal.wal;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** One write-ahead file, which is reused. One thread at a time. */
final class WriteAheadSegment {
    private static final int ZEROS_SIZE_BYTES = 1 << 20;

    private final Path path;
    private final LogFile file;
    private final int sizeBytes;

    /** The owners of its records, with the offset up to which their data must be durable before the file is reused. */
    private final Map<CoveredJournal, Long> covered = new LinkedHashMap<>();

    private int position;
    private boolean holdsCut;
    private boolean mayHoldOld;

    private WriteAheadSegment(Path path, LogFile file, int sizeBytes) {
        this.path = path;
        this.file = file;
        this.sizeBytes = sizeBytes;
    }

    /**
     * Creates a file of the full size, filled with zeros. Because the blocks are then allocated, a later sync writes
     * data and no metadata. The zeros are written and synced in pieces, so that the syncs of others are not delayed for
     * long. Blocks.
     */
    static WriteAheadSegment create(FileStore store, Path path, int sizeBytes) throws IOException {
        LogFile file = store.open(path, true);
        try {
            ByteBuffer zeros = ByteBuffer.allocateDirect(Math.min(ZEROS_SIZE_BYTES, sizeBytes));
            for (int at = 0; at < sizeBytes; at += zeros.capacity()) {
                file.write(zeros.clear().limit(Math.min(zeros.capacity(), sizeBytes - at)), at);
                file.sync();
            }
            store.syncDirectory(path.getParent());
            return new WriteAheadSegment(path, file, sizeBytes);
        } catch (IOException failure) {
            try {
                file.close();
                store.delete(path);
            } catch (IOException second) {
                failure.addSuppressed(second);
            }
            throw failure;
        }
    }

    boolean hasRoom(long moreBytes) {
        return moreBytes <= sizeBytes - position;
    }

    boolean isHalfFull() {
        return position > sizeBytes / 2;
    }

    /** Starts to reuse the file; its old records are no longer needed. */
    void begin(long firstSequence) throws IOException {
        covered.clear();
        holdsCut = false;
        mayHoldOld = true;
        position = WriteAheadFormat.FILE_HEADER_SIZE_BYTES;
        file.write(WriteAheadFormat.fileHeader(firstSequence), 0);
    }

    /** Writes records. They count as stored here even if the write fails. */
    void write(WriteAheadFrames frames, long firstSequence) throws IOException {
        for (WriteAheadFrames.Entry entry : frames.entries()) {
            if (entry.isCut()) {
                holdsCut = true;
            } else {
                covered.merge(entry.covered(), entry.endOffset(), Math::max);
            }
        }
        frames.write(file, position, firstSequence);
        position += frames.sizeBytes();
    }

    void sync() throws IOException {
        file.sync();
        mayHoldOld = false;
    }

    /** Whether all of its records are durable in the journals. */
    boolean isFree() {
        covered.entrySet()
                .removeIf(entry -> entry.getKey().isGone() || entry.getKey().flushedOffset() >= entry.getValue());
        return covered.isEmpty();
    }

    /** Whether it holds a cut, without which records in older files would not be void. */
    boolean holdsCut() {
        return holdsCut;
    }

    /** Whether a start after a crash may still find the records from before {@link #begin}. */
    boolean mayHoldOld() {
        return mayHoldOld;
    }

    /** The records of {@code owner} are void. */
    void forget(CoveredJournal owner) {
        covered.remove(owner);
    }

    /** Number of journals with records here that were not durable when {@link #isFree} was last called. */
    int journalCount() {
        return covered.size();
    }

    /** Asks the owners of its records to flush. */
    void flushSoon() {
        covered.keySet().forEach(CoveredJournal::flushSoon);
    }

    void close() throws IOException {
        file.close();
    }

    Path path() {
        return path;
    }
}
