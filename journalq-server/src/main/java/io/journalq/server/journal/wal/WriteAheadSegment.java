package io.journalq.server.journal.wal;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** One write-ahead file, used again and again. One thread at a time. */
final class WriteAheadSegment {
    private static final int ZEROS_SIZE_BYTES = 1 << 20;

    private final Path path;
    private final LogFile file;
    private final int sizeBytes;

    /** Whose records it holds, and the offset up to which they must be safe before it is used again. */
    private final Map<Covered, Long> covered = new LinkedHashMap<>();

    private int position;

    private WriteAheadSegment(Path path, LogFile file, int sizeBytes) {
        this.path = path;
        this.file = file;
        this.sizeBytes = sizeBytes;
    }

    /**
     * Makes a file of the full size, all zeros: when blocks are there already, a sync later writes data and no metadata. It
     * goes to the disk piece by piece, so that the syncs of others come in between. Blocks.
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

    /** Begins anew; what it held is not needed any more. */
    void begin(long firstSequence) throws IOException {
        covered.clear();
        position = WriteAheadFormat.FILE_HEADER_SIZE_BYTES;
        file.write(WriteAheadFormat.fileHeader(firstSequence), 0);
    }

    /** Writes records; they count as held even when that fails. */
    void write(WriteAheadFrames frames, long firstSequence) throws IOException {
        for (WriteAheadFrames.Entry entry : frames.entries()) {
            covered.merge(entry.covered(), entry.endOffset(), Math::max);
        }
        frames.write(file, position, firstSequence);
        position += frames.sizeBytes();
    }

    void sync() throws IOException {
        file.sync();
    }

    /** Whether everything that it holds is safe elsewhere. */
    boolean isFree() {
        covered.entrySet()
                .removeIf(entry -> entry.getKey().isGone() || entry.getKey().flushedOffset() >= entry.getValue());
        return covered.isEmpty();
    }

    /** How many have something here that was not safe elsewhere when {@link #isFree} last looked. */
    int journalCount() {
        return covered.size();
    }

    /** Asks those whose records it holds to make them safe elsewhere. */
    void flushSoon() {
        covered.keySet().forEach(Covered::flushSoon);
    }

    void close() throws IOException {
        file.close();
    }

    Path path() {
        return path;
    }
}
