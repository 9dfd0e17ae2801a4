package io.journalq.server.journal.wal;

import io.journalq.server.journal.file.LogFile;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Records to be written into a write-ahead file. One thread gathers them, another thread commits them and hands the
 * object back. The records are copies, so the caller does not have to keep its batches.
 */
public final class WriteAheadFrames {
    private static final int FIRST_CAPACITY_BYTES = 16 << 10;
    /** A larger buffer is discarded after use, so that a burst does not use memory permanently. */
    private static final int MAX_KEPT_CAPACITY_BYTES = 1 << 20;

    private final int maxSizeBytes;
    private final List<Entry> entries = new ArrayList<>();
    private ByteBuffer buffer;

    /**
     * The owner of a record, and the offset behind the record.
     *
     * @param isCut whether the record makes the owner's earlier records void
     */
    public record Entry(CoveredJournal covered, long endOffset, boolean isCut) {
        /** For a range of a segment. */
        public Entry(CoveredJournal covered, long endOffset) {
            this(covered, endOffset, false);
        }
    }

    /** @param maxSizeBytes maximum size of the gathered records */
    public WriteAheadFrames(int maxSizeBytes) {
        this.maxSizeBytes = maxSizeBytes;
        this.buffer = ByteBuffer.allocateDirect(Math.min(FIRST_CAPACITY_BYTES, maxSizeBytes));
    }

    /**
     * Copies a range of a segment.
     *
     * @param directory the journal's name, UTF-8
     * @param batches the batches written there, back to back
     * @return false, without a change, if there is currently no room or no memory for it
     */
    public boolean add(Entry entry, byte[] directory, long segmentBaseOffset, int position, List<ByteBuf> batches) {
        long dataSizeBytes = 0;
        for (ByteBuf batch : batches) {
            dataSizeBytes += batch.readableBytes();
        }
        if (directory.length > Short.MAX_VALUE || dataSizeBytes == 0 || dataSizeBytes > maxSizeBytes) {
            return false;
        }
        int sizeBytes = WriteAheadFormat.sizeBytes(directory, (int) dataSizeBytes);
        if (sizeBytes > maxSizeBytes - buffer.position()) {
            return false;
        }
        if (!ensure(sizeBytes)) {
            return false;
        }
        WriteAheadFormat.putHeader(buffer, sizeBytes, directory, segmentBaseOffset, position, entry.endOffset());
        for (ByteBuf batch : batches) {
            int end = buffer.position() + batch.readableBytes();
            batch.getBytes(batch.readerIndex(), buffer.limit(end));
            buffer.limit(buffer.capacity());
        }
        entries.add(entry);
        return true;
    }

    /**
     * Adds a cut, which makes the earlier records of a journal void.
     *
     * @param directory the journal's name, UTF-8
     * @param endOffset the offset to which the journal is about to be truncated
     * @return false, without a change, if there is currently no room or no memory for it
     */
    public boolean addCut(CoveredJournal covered, byte[] directory, long endOffset) {
        int sizeBytes = WriteAheadFormat.sizeBytes(directory, 0);
        if (directory.length > Short.MAX_VALUE || sizeBytes > maxSizeBytes - buffer.position() || !ensure(sizeBytes)) {
            return false;
        }
        WriteAheadFormat.putHeader(buffer, sizeBytes, directory, 0, 0, endOffset);
        entries.add(new Entry(covered, endOffset, true));
        return true;
    }

    private boolean ensure(int moreBytes) {
        if (moreBytes > buffer.remaining()) {
            long wanted =
                    Math.max(FIRST_CAPACITY_BYTES, Math.max(2L * buffer.capacity(), buffer.position() + moreBytes));
            try {
                ByteBuffer larger = ByteBuffer.allocateDirect((int) Math.min(maxSizeBytes, wanted));
                buffer = larger.put(buffer.flip());
            } catch (OutOfMemoryError noDirectMemory) {
                return false; // The batches are already in the journal's file, and can be synced there.
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

    /** The records' entries, in the order in which they were added. */
    public List<Entry> entries() {
        return entries;
    }

    /** Removes all records. */
    public void clear() {
        entries.clear();
        // Without a new direct buffer, which may be refused: the loop waits for this object.
        buffer = buffer.capacity() > MAX_KEPT_CAPACITY_BYTES ? ByteBuffer.allocate(0) : buffer.clear();
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
