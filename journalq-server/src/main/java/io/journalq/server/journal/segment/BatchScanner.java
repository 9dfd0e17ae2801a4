package io.journalq.server.journal.segment;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.LogFile;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Reads the batch headers in one range of a log file, without the data between them unless a CRC is checked. Bad bytes
 * end the scan; they never cause an exception. One thread.
 */
public final class BatchScanner {
    private static final int CRC_CHUNK_BYTES = 64 << 10;

    private final LogFile file;
    private final int end;
    private final byte[] chunk;
    private final ByteBuffer chunkTarget;
    private final byte[] headerBytes = new byte[RecordBatch.HEADER_SIZE_BYTES];
    private final ByteBuf header = Unpooled.wrappedBuffer(headerBytes);
    private int chunkPosition;
    private int chunkSizeBytes;
    private int position;
    private int sizeBytes;
    private int claimedEnd;

    /**
     * @param from position of the first batch
     * @param end where the range ends; no batch reaches beyond it
     * @param chunkSizeBytes maximum size of one read
     */
    public BatchScanner(LogFile file, int from, int end, int chunkSizeBytes) {
        this.file = file;
        this.end = end;
        this.position = from;
        this.chunk = new byte[Math.max(RecordBatch.HEADER_SIZE_BYTES, Math.min(chunkSizeBytes, end - from))];
        this.chunkTarget = ByteBuffer.wrap(chunk);
    }

    /** Moves to the next batch. Returns false {@linkplain #atEnd at the end}, or if the bytes cannot be a batch. */
    public boolean next() throws IOException {
        position += sizeBytes;
        sizeBytes = 0;
        claimedEnd = position;
        if (end - position < RecordBatch.HEADER_SIZE_BYTES || !fill(position, RecordBatch.HEADER_SIZE_BYTES)) {
            return false;
        }
        System.arraycopy(chunk, position - chunkPosition, headerBytes, 0, RecordBatch.HEADER_SIZE_BYTES);
        int claimedBytes = RecordBatch.sizeBytes(header, 0);
        if (claimedBytes < RecordBatch.HEADER_SIZE_BYTES || claimedBytes > end - position) {
            return false;
        }
        claimedEnd = position + claimedBytes;
        if (!BatchCheck.isPossible(header, 0)) {
            return false;
        }
        sizeBytes = claimedBytes;
        return true;
    }

    /** Continues at {@code newPosition} instead of behind the current batch. */
    public void skipTo(int newPosition) {
        position = newPosition;
        sizeBytes = 0;
    }

    public boolean atEnd() {
        return position == end;
    }

    /** Position of the current batch, or where the scan stopped. */
    public int position() {
        return position;
    }

    /** If bad bytes at the current position have a valid length, the position at which the next batch would begin. */
    public int claimedEnd() {
        return claimedEnd;
    }

    /** Size of the current batch in bytes; 0 if there is none. */
    public int sizeBytes() {
        return sizeBytes;
    }

    /** The current batch's header, valid until the next move. */
    public ByteBuf header() {
        return header;
    }

    /** The complete current batch, in a new buffer that the caller owns. */
    public ByteBuf readBatch() throws IOException {
        byte[] bytes = new byte[sizeBytes];
        if (file.read(ByteBuffer.wrap(bytes), position) < sizeBytes) {
            throw new IOException("the file ends inside a batch at byte " + position);
        }
        return Unpooled.wrappedBuffer(bytes);
    }

    public long baseOffset() {
        return RecordBatch.baseOffset(header, 0);
    }

    public long nextOffset() {
        return RecordBatch.nextOffset(header, 0);
    }

    /** Reads the current batch and compares its CRC. */
    public boolean crcMatches() throws IOException {
        CRC32C crc = new CRC32C();
        int from = position + RecordBatch.ATTRIBUTES;
        int to = position + sizeBytes;
        while (from < to) {
            if (!fill(from, 1)) {
                return false;
            }
            int count = Math.min(to, chunkPosition + chunkSizeBytes) - from;
            crc.update(chunk, from - chunkPosition, count);
            from += count;
        }
        return (int) crc.getValue() == RecordBatch.crc(header, 0);
    }

    /**
     * Whether the bytes between two positions have the CRC in {@code header}, regardless of the length in
     * {@code header}.
     */
    static boolean crcMatches(LogFile file, int from, int to, ByteBuf header) throws IOException {
        return to - from >= RecordBatch.HEADER_SIZE_BYTES && crc(file, from, to) == RecordBatch.crc(header, 0);
    }

    /** CRC of a batch between two positions. */
    static int crc(LogFile file, int from, int to) throws IOException {
        CRC32C crc = new CRC32C();
        ByteBuffer chunk = ByteBuffer.allocate(Math.min(CRC_CHUNK_BYTES, to - from));
        for (int at = from + RecordBatch.ATTRIBUTES; at < to; at += chunk.capacity()) {
            chunk.clear().limit(Math.min(chunk.capacity(), to - at));
            file.read(chunk, at);
            crc.update(chunk.flip());
        }
        return (int) crc.getValue();
    }

    /** True if there are only zeros between the current position and the end. */
    public boolean onlyZerosLeft() throws IOException {
        for (int at = position; at < end; at++) {
            if (!fill(at, 1) || chunk[at - chunkPosition] != 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * The first position behind {@code from} at which a batch could begin, judged by its magic; {@code end} if there is
     * none.
     */
    public int nextCandidate(int from) throws IOException {
        for (int at = from; at <= end - RecordBatch.HEADER_SIZE_BYTES; at++) {
            if (!fill(at + RecordBatch.MAGIC, 1)) {
                return end;
            }
            if (chunk[at + RecordBatch.MAGIC - chunkPosition] == RecordBatch.CURRENT_MAGIC) {
                return at;
            }
        }
        return end;
    }

    private boolean fill(int from, int count) throws IOException {
        if (from >= chunkPosition && from + count <= chunkPosition + chunkSizeBytes) {
            return true;
        }
        chunkTarget.clear().limit(Math.min(chunk.length, end - from));
        chunkPosition = from;
        chunkSizeBytes = file.read(chunkTarget, from);
        return chunkSizeBytes >= count;
    }
}
