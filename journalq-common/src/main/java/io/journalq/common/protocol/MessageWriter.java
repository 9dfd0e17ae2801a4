package io.journalq.common.protocol;

import io.journalq.common.check.Check;
import io.journalq.common.id.Uuid;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.ReferenceCounted;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Writes the primitive types of the protocol into a pooled buffer that grows. Large records and file regions are not
 * copied: they become separate parts between slices of the buffer, for one gathering write.
 *
 * <p>Call either {@link #finish} or {@link #release}, once. One thread.
 */
public final class MessageWriter {
    /** Records of at least this size become a separate part. Below it, copying is cheaper. */
    public static final int LARGE_RECORDS_SIZE_BYTES = 16 * 1024;

    private static final int INITIAL_CAPACITY_BYTES = 256;
    private static final int FRAME_PREFIX_BYTES = Integer.BYTES;

    /** The approximate size at which a writer of {@link #inStretches} continues in another buffer. */
    private static final int STRETCH_SIZE_BYTES = 1024 * 1024;

    private final ByteBufAllocator allocator;
    private final boolean framed;
    private final boolean inStretches;
    private ByteBuf buffer;

    /** Full buffers, and the parts between their slices. Empty for most messages. */
    private List<ReferenceCounted> earlierParts = List.of();

    private int earlierPartsSizeBytes;
    private int openTags;

    /** The parts between the slices of the buffer, and the index of each. Both are empty for most messages. */
    private List<ReferenceCounted> largeParts = List.of();

    private int[] cuts = {};
    private int largePartsSizeBytes;
    /** The buffer that contains the length of the frame. */
    private ByteBuf frameBuffer;

    private int frameIndex;
    private int frameStartBytes;

    /** Creates a writer for a message without a length prefix. */
    public MessageWriter(ByteBufAllocator allocator) {
        this(allocator, false, false, INITIAL_CAPACITY_BYTES);
    }

    private MessageWriter(ByteBufAllocator allocator, boolean framed, boolean inStretches, int capacityBytes) {
        this.allocator = allocator;
        this.buffer = allocator.buffer(capacityBytes);
        this.framed = framed;
        this.inStretches = inStretches;
        if (framed) {
            frameBuffer = buffer;
            buffer.writeInt(0);
        }
    }

    /**
     * Creates a writer for messages of any size. A large message continues in further buffers, so that it is not copied
     * while it grows and never needs twice its size.
     */
    public static MessageWriter inStretches(ByteBufAllocator allocator) {
        return new MessageWriter(allocator, false, true, INITIAL_CAPACITY_BYTES);
    }

    /** Creates a writer for a message with a length prefix of 4 bytes, which {@link #finish} sets. */
    public static MessageWriter frame(ByteBufAllocator allocator) {
        return frame(allocator, 0);
    }

    /**
     * Like {@link #frame(ByteBufAllocator)}, with an initial capacity, so that a large message is not copied while it
     * grows.
     *
     * @param copiedBytes the approximate size of the records that will be copied into the frame
     */
    public static MessageWriter frame(ByteBufAllocator allocator, int copiedBytes) {
        return new MessageWriter(allocator, true, false, INITIAL_CAPACITY_BYTES + copiedBytes);
    }

    /**
     * Starts a frame within this message, so that many small frames share one buffer. {@link #endFrame} sets its
     * length. Frames cannot be nested.
     */
    public void beginFrame() {
        frameBuffer = buffer;
        frameIndex = buffer.writerIndex();
        frameStartBytes = sizeBytes();
        buffer.writeInt(0);
    }

    /** Sets the length of the frame that {@link #beginFrame} started. */
    public void endFrame() {
        frameBuffer.setInt(frameIndex, sizeBytes() - frameStartBytes - FRAME_PREFIX_BYTES);
    }

    /** The number of bytes written to all parts, including the length prefix. */
    public int sizeBytes() {
        return Math.addExact(earlierPartsSizeBytes, buffer.readableBytes() + largePartsSizeBytes);
    }

    /** Returns the parts in order, usually one buffer. The caller releases each part or passes it to a channel. */
    public List<ReferenceCounted> finish() {
        if (framed) {
            frameBuffer.setInt(frameIndex, sizeBytes() - FRAME_PREFIX_BYTES);
        }
        if (largeParts.isEmpty() && earlierParts.isEmpty()) {
            return List.of(buffer);
        }
        List<ReferenceCounted> parts =
                earlierParts.isEmpty() ? new ArrayList<>(2 * largeParts.size() + 1) : earlierParts;
        addParts(parts);
        earlierParts = List.of();
        return parts;
    }

    /** Appends the slices of the buffer, and the parts between them, to {@code parts}. */
    private void addParts(List<ReferenceCounted> parts) {
        for (int i = 0; i < largeParts.size(); i++) {
            addStretch(parts, cuts[i]);
            parts.add(largeParts.get(i));
        }
        addStretch(parts, buffer.writerIndex());
        buffer.release();
        largeParts = List.of();
    }

    /**
     * Continues in a new buffer if this one has no room for {@code moreBytes}. Not called within a tagged field, which
     * may be moved.
     */
    private void beginStretchIfFull(int moreBytes) {
        if (inStretches
                && openTags == 0
                && buffer.isReadable()
                && buffer.writerIndex() + (long) moreBytes > STRETCH_SIZE_BYTES) {
            ByteBuf next = allocator.buffer(Math.max(STRETCH_SIZE_BYTES, moreBytes));
            if (earlierParts.isEmpty()) {
                earlierParts = new ArrayList<>();
            }
            earlierPartsSizeBytes = sizeBytes();
            addParts(earlierParts);
            largePartsSizeBytes = 0;
            cuts = new int[0];
            buffer = next;
        }
    }

    private void addStretch(List<ReferenceCounted> parts, int end) {
        if (end > buffer.readerIndex()) {
            parts.add(buffer.readRetainedSlice(end - buffer.readerIndex()));
        }
    }

    /** Discards the message. */
    public void release() {
        earlierParts.forEach(ReferenceCounted::release);
        earlierParts = List.of();
        buffer.release();
        largeParts.forEach(ReferenceCounted::release);
        largeParts = List.of();
    }

    public void writeBoolean(boolean value) {
        buffer.writeByte(value ? 1 : 0);
    }

    public void writeByte(byte value) {
        buffer.writeByte(value);
    }

    public void writeShort(short value) {
        buffer.writeShort(value);
    }

    /** Writes a number from 0 to 65,535. */
    public void writeUnsignedShort(int value) {
        Check.that(value >>> 16 == 0, "an unsigned 16-bit number is out of range");
        buffer.writeShort(value);
    }

    public void writeInt(int value) {
        buffer.writeInt(value);
    }

    /** Writes a number from 0 to 4,294,967,295. */
    public void writeUnsignedInt(long value) {
        Check.that(value >>> 32 == 0, "an unsigned 32-bit number is out of range");
        buffer.writeInt((int) value);
    }

    public void writeLong(long value) {
        buffer.writeLong(value);
    }

    public void writeDouble(double value) {
        buffer.writeLong(Double.doubleToRawLongBits(value));
    }

    public void writeUuid(Uuid value) {
        buffer.writeLong(value.mostSignificantBits());
        buffer.writeLong(value.leastSignificantBits());
    }

    /** Writes {@code value} as an unsigned number. */
    public void writeUnsignedVarint(int value) {
        int rest = value;
        while ((rest & ~0x7F) != 0) {
            buffer.writeByte(rest | 0x80);
            rest >>>= 7;
        }
        buffer.writeByte(rest);
    }

    /** Writes the byte that precedes a nullable struct. */
    public void writePresent(boolean present) {
        buffer.writeByte(present ? 1 : -1);
    }

    /**
     * Writes a string or null.
     *
     * @throws IllegalArgumentException if it has more than {@link MessageReader#MAX_STRING_SIZE_BYTES} bytes
     */
    public void writeString(String value, boolean flexible) {
        if (value == null) {
            if (flexible) {
                buffer.writeByte(0);
            } else {
                buffer.writeShort(-1);
            }
            return;
        }
        beginStretchIfFull(0);
        int sizeBytes = ByteBufUtil.utf8Bytes(value);
        if (sizeBytes > MessageReader.MAX_STRING_SIZE_BYTES) {
            throw new IllegalArgumentException("a string of " + sizeBytes + " bytes exceeds the protocol's limit of "
                    + MessageReader.MAX_STRING_SIZE_BYTES);
        }
        if (flexible) {
            writeUnsignedVarint(sizeBytes + 1);
        } else {
            buffer.writeShort(sizeBytes);
        }
        ByteBufUtil.reserveAndWriteUtf8(buffer, value, sizeBytes);
    }

    /**
     * Copies the readable bytes of {@code value}, or writes null. Does not change its indexes or its reference count.
     */
    public void writeBytes(ByteBuf value, boolean flexible) {
        if (value == null) {
            writeNullSize(flexible);
            return;
        }
        int sizeBytes = value.readableBytes();
        beginStretchIfFull(sizeBytes);
        writeSize(sizeBytes, flexible);
        buffer.writeBytes(value, value.readerIndex(), sizeBytes);
    }

    /**
     * Writes records or null, and takes over the reference of {@code records}. Small records are copied and released
     * immediately, large records and file regions become a part. Retain records before if you need them afterwards.
     */
    public void writeRecords(RecordsData records, boolean flexible) {
        if (records == null) {
            writeNullSize(flexible);
            return;
        }
        int sizeBytes = records.sizeBytes();
        beginStretchIfFull(0);
        writeSize(sizeBytes, flexible);
        if (sizeBytes == 0) {
            records.release();
        } else if (records.region() != null) {
            addPart(records.region(), sizeBytes);
        } else if (sizeBytes >= LARGE_RECORDS_SIZE_BYTES) {
            addPart(records.buffer(), sizeBytes);
        } else {
            ByteBuf bytes = records.buffer();
            buffer.writeBytes(bytes, bytes.readerIndex(), sizeBytes);
            bytes.release();
        }
    }

    private void addPart(ReferenceCounted part, int sizeBytes) {
        int count = largeParts.size();
        if (count == 0) {
            largeParts = new ArrayList<>();
        }
        if (count == cuts.length) {
            cuts = Arrays.copyOf(cuts, Math.max(4, count * 2));
        }
        cuts[count] = buffer.writerIndex();
        largeParts.add(part);
        largePartsSizeBytes = Math.addExact(largePartsSizeBytes, sizeBytes);
    }

    /** Writes the count of an array. */
    public void writeCount(int count, boolean flexible) {
        beginStretchIfFull(0);
        writeSize(count, flexible);
    }

    /** Writes the count of a null array. */
    public void writeNullCount(boolean flexible) {
        writeNullSize(flexible);
    }

    private void writeSize(int size, boolean flexible) {
        if (flexible) {
            writeUnsignedVarint(size + 1);
        } else {
            buffer.writeInt(size);
        }
    }

    private void writeNullSize(boolean flexible) {
        if (flexible) {
            buffer.writeByte(0);
        } else {
            buffer.writeInt(-1);
        }
    }

    /**
     * Starts a tagged field of unknown size and reserves one byte for the size. Pass the returned mark to {@link
     * #endTag}.
     */
    public int beginTag(int tag) {
        writeUnsignedVarint(tag);
        int mark = buffer.writerIndex();
        buffer.writeByte(0);
        openTags++;
        return mark;
    }

    /** Sets the size of a tagged field. If the size needs more than one byte, the field is moved. */
    public void endTag(int mark) {
        openTags--;
        int start = mark + 1;
        int sizeBytes = buffer.writerIndex() - start;
        if (sizeBytes < 0x80) {
            buffer.setByte(mark, sizeBytes);
            return;
        }
        int prefixBytes = (Integer.SIZE - Integer.numberOfLeadingZeros(sizeBytes) + 6) / 7;
        buffer.ensureWritable(prefixBytes - 1);
        // The ranges overlap. Within one buffer, Netty copies like memmove, on and off the heap (covered by a test).
        buffer.setBytes(start + prefixBytes - 1, buffer, start, sizeBytes);
        buffer.writerIndex(mark);
        writeUnsignedVarint(sizeBytes);
        buffer.writerIndex(mark + prefixBytes + sizeBytes);
    }
}
