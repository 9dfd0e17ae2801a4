package io.journalq.server.journal.wal;

import io.journalq.server.journal.file.LogFile;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Records on their way into a write-ahead file: gathered by one thread, handed to the one that commits them, and back.
 * They are copies: whoever brings batches need not keep them.
 */
public final class WriteAheadFrames {
    private static final int FIRST_CAPACITY_BYTES = 16 << 10;
    /** A larger buffer is given up after use, so that one burst does not cost memory for ever. */
    private static final int MAX_KEPT_CAPACITY_BYTES = 1 << 20;

    private final int maxSizeBytes;
    private final List<Entry> entries = new ArrayList<>();
    private ByteBuffer buffer;

    /** Whose record it is, and the offset behind it. */
    public record Entry(Covered covered, long endOffset) {}

    /** @param maxSizeBytes the most to gather */
    public WriteAheadFrames(int maxSizeBytes) {
        this.maxSizeBytes = maxSizeBytes;
        this.buffer = ByteBuffer.allocateDirect(Math.min(FIRST_CAPACITY_BYTES, maxSizeBytes));
    }

    /**
     * Copies a stretch of a segment.
     *
     * @param folder the journal's name, UTF-8
     * @param batches what was written there, back to back
     * @return false, and nothing is taken, when there is no room, or no memory, for it now
     */
    public boolean add(Entry entry, byte[] folder, long segmentBaseOffset, int position, List<ByteBuf> batches) {
        long dataSizeBytes = 0;
        for (ByteBuf batch : batches) {
            dataSizeBytes += batch.readableBytes();
        }
        if (folder.length > Short.MAX_VALUE || dataSizeBytes > maxSizeBytes) {
            return false;
        }
        int sizeBytes = WriteAheadFormat.sizeBytes(folder, (int) dataSizeBytes);
        if (sizeBytes > maxSizeBytes - buffer.position()) {
            return false;
        }
        if (!ensure(sizeBytes)) {
            return false;
        }
        WriteAheadFormat.putHeader(buffer, sizeBytes, folder, segmentBaseOffset, position, entry.endOffset());
        for (ByteBuf batch : batches) {
            int end = buffer.position() + batch.readableBytes();
            batch.getBytes(batch.readerIndex(), buffer.limit(end));
            buffer.limit(buffer.capacity());
        }
        entries.add(entry);
        return true;
    }

    private boolean ensure(int moreBytes) {
        if (moreBytes > buffer.remaining()) {
            long wanted = Math.max(2L * buffer.capacity(), (long) buffer.position() + moreBytes);
            try {
                ByteBuffer larger = ByteBuffer.allocateDirect((int) Math.min(maxSizeBytes, wanted));
                buffer = larger.put(buffer.flip());
            } catch (OutOfMemoryError noDirectMemory) {
                return false; // What was written is in its file already, and can be synced there.
            }
        }
        return true;
    }

    public boolean isEmpty() {
        return entries.isEmpty();
    }

    public int sizeBytes() {
        return buffer.position();
    }

    /** In the order in which they came. */
    public List<Entry> entries() {
        return entries;
    }

    /** Makes room for others. */
    public void clear() {
        entries.clear();
        buffer = buffer.capacity() > MAX_KEPT_CAPACITY_BYTES
                ? ByteBuffer.allocateDirect(Math.min(FIRST_CAPACITY_BYTES, maxSizeBytes))
                : buffer.clear();
    }

    /** Numbers the records and writes them in one call. */
    void write(LogFile file, long position, long firstSequence) throws IOException {
        long sequence = firstSequence;
        for (int at = 0; at < buffer.position(); at += buffer.getInt(at)) {
            WriteAheadFormat.seal(buffer, at, sequence++);
        }
        file.write(buffer.duplicate().flip(), position);
    }
}
