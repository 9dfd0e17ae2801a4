package io.journalq.common.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.FileRegion;
import io.netty.util.ReferenceCounted;
import java.util.Objects;

/**
 * The record batches inside a message: bytes in memory, or a stretch of a file that goes to the socket without passing
 * through memory. Holds one reference to them, which {@link MessageWriter#writeRecords} takes over.
 *
 * <p>What a {@link MessageReader} gives is a slice of the frame that counts no reference: whoever keeps it beyond the
 * frame, or writes it into another message, retains it first. Immutable; used by one thread at a time, as its content is.
 */
public final class RecordsData {
    /** No bytes at all. */
    public static final RecordsData EMPTY = new RecordsData(Unpooled.EMPTY_BUFFER, null, 0);

    private final ByteBuf buffer;
    private final FileRegion region;
    private final int sizeBytes;

    private RecordsData(ByteBuf buffer, FileRegion region, int sizeBytes) {
        this.buffer = buffer;
        this.region = region;
        this.sizeBytes = sizeBytes;
    }

    /** The readable bytes of {@code buffer}, whose indexes must not move afterwards. */
    public static RecordsData of(ByteBuf buffer) {
        return new RecordsData(buffer, null, buffer.readableBytes());
    }

    /**
     * A stretch of a file of which nothing has been transferred yet.
     *
     * @throws IllegalArgumentException when it is larger than a frame can be
     */
    public static RecordsData of(FileRegion region) {
        if (region.count() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a region of " + region.count() + " bytes exceeds a frame");
        }
        return new RecordsData(null, region, (int) region.count());
    }

    /** Bytes on the wire, without their length prefix. */
    public int sizeBytes() {
        return sizeBytes;
    }

    /** The bytes in memory, null when they are in a file. */
    public ByteBuf buffer() {
        return buffer;
    }

    /** The stretch of a file, null when the bytes are in memory. */
    public FileRegion region() {
        return region;
    }

    /** Counts one more reference. */
    public RecordsData retain() {
        content().retain();
        return this;
    }

    /** Gives one reference back. */
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
