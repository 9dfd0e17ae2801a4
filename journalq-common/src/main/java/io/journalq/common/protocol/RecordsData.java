package io.journalq.common.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.FileRegion;
import io.netty.util.ReferenceCounted;
import java.util.Objects;

/**
 * The record batches of a message: bytes in memory, or a file region that is sent without passing through memory. Owns
 * one reference, which {@link MessageWriter#writeRecords} takes over.
 *
 * <p>Records from a {@link MessageReader} are a slice of the frame without a reference of their own. Retain them to
 * keep them longer than the frame, or to write them into another message. Immutable; used by one thread at a time, like
 * its content.
 */
public final class RecordsData {
    /** No bytes. */
    public static final RecordsData EMPTY = new RecordsData(Unpooled.EMPTY_BUFFER, null, null, 0);

    private final ByteBuf buffer;
    private final FileRegion region;
    private final RecordsFile file;
    private final int sizeBytes;

    private RecordsData(ByteBuf buffer, FileRegion region, RecordsFile file, int sizeBytes) {
        this.buffer = buffer;
        this.region = region;
        this.file = file;
        this.sizeBytes = sizeBytes;
    }

    /** Wraps the readable bytes of {@code buffer}, whose indexes must not change afterwards. */
    public static RecordsData of(ByteBuf buffer) {
        return new RecordsData(buffer, null, null, buffer.readableBytes());
    }

    /**
     * Wraps a file region that has not been transferred yet.
     *
     * @throws IllegalArgumentException if it is larger than a frame can be
     */
    public static RecordsData of(FileRegion region) {
        return of(region, null);
    }

    /** As {@link #of(FileRegion)}, if parts of the records may be read and sent. */
    public static RecordsData of(FileRegion region, RecordsFile file) {
        if (region.count() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a file region of " + region.count() + " bytes exceeds a frame");
        }
        return new RecordsData(null, region, file, (int) region.count());
    }

    /** The size on the wire in bytes, without the length prefix. */
    public int sizeBytes() {
        return sizeBytes;
    }

    /** The bytes in memory, or null if they are in a file. */
    public ByteBuf buffer() {
        return buffer;
    }

    /** The file region, or null if the bytes are in memory. */
    public FileRegion region() {
        return region;
    }

    /** The file, if parts of the records can be read and sent; otherwise null. */
    public RecordsFile file() {
        return file;
    }

    /** Increments the reference count. */
    public RecordsData retain() {
        content().retain();
        return this;
    }

    /** Decrements the reference count. */
    public void release() {
        content().release();
    }

    private ReferenceCounted content() {
        return buffer != null ? buffer : region;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RecordsData that
                && Objects.equals(buffer, that.buffer)
                && Objects.equals(region, that.region);
    }

    @Override
    public int hashCode() {
        return Objects.hash(buffer, region);
    }

    @Override
    public String toString() {
        return "RecordsData(" + sizeBytes + (buffer != null ? " bytes)" : " bytes in a file)");
    }
}
