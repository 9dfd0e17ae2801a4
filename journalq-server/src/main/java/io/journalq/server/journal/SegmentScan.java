package io.journalq.server.journal;

import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.segment.BatchScanner;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Reads one segment file from beginning to end, and checks the header, offset and CRC of every batch. Changes nothing.
 * Stateless; blocks.
 */
public final class SegmentScan {
    private static final int CHUNK_BYTES = 1 << 20;

    private SegmentScan() {}

    /** Visits the content of a segment, in the order of the file. */
    public interface Visitor {
        /**
         * A healthy batch.
         *
         * @param header for {@link io.journalq.common.record.RecordBatch}, from index 0; valid during the call
         * @param whole reads the complete batch
         */
        void onBatch(int position, ByteBuf header, Reader whole) throws IOException;

        /** Bytes from {@code position} to {@code endPosition} without a healthy batch. */
        void onBadBytes(int position, int endPosition) throws IOException;
    }

    /** Reads the visited batch. */
    @FunctionalInterface
    public interface Reader {
        /** The complete batch, in a new buffer that the caller owns. */
        ByteBuf read() throws IOException;
    }

    /**
     * Reads a file.
     *
     * @param baseOffset no batch begins before it
     * @return where the batches end: the file's size, or the position behind which there are only zeros
     */
    public static int read(FileStore store, Path log, long baseOffset, Visitor visitor) throws IOException {
        long fileBytes = store.sizeBytes(log);
        if (fileBytes > Integer.MAX_VALUE) {
            throw new CorruptJournalException(log, fileBytes, "too large for a segment");
        }
        try (LogFile file = store.open(log, false)) {
            return read(new BatchScanner(file, 0, (int) fileBytes, CHUNK_BYTES), (int) fileBytes, baseOffset, visitor);
        }
    }

    private static int read(BatchScanner scanner, int fileBytes, long baseOffset, Visitor visitor) throws IOException {
        long nextOffset = baseOffset;
        while (true) {
            if (scanner.next() && isHealthy(scanner, nextOffset)) {
                visitor.onBatch(scanner.position(), scanner.header(), scanner::readBatch);
                nextOffset = scanner.nextOffset();
                continue;
            }
            int bad = scanner.position();
            int claimedEnd = scanner.claimedEnd();
            if (bad >= fileBytes || scanner.onlyZerosLeft()) {
                return bad;
            }
            int resumed = resume(scanner, bad, claimedEnd, fileBytes, nextOffset);
            visitor.onBadBytes(bad, resumed);
            if (resumed >= fileBytes) {
                return fileBytes;
            }
            scanner.skipTo(resumed);
        }
    }

    private static boolean isHealthy(BatchScanner scanner, long nextOffset) throws IOException {
        return scanner.baseOffset() >= nextOffset && scanner.crcMatches();
    }

    /** Where the next healthy batch begins; the file's size if there is none. */
    private static int resume(BatchScanner scanner, int bad, int claimedEnd, int fileBytes, long nextOffset)
            throws IOException {
        int candidate = claimedEnd > bad ? claimedEnd : scanner.nextCandidate(bad + 1);
        boolean claimed = claimedEnd > bad;
        while (candidate < fileBytes) {
            scanner.skipTo(candidate);
            if (scanner.next() && isHealthy(scanner, nextOffset)) {
                return candidate;
            }
            candidate = scanner.nextCandidate(claimed ? bad + 1 : candidate + 1);
            claimed = false;
        }
        return fileBytes;
    }
}
