package io.journalq.common.protocol;

import io.journalq.common.id.Uuid;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the primitive types of the protocol from a frame, in order.
 *
 * <p>Invalid bytes cause only {@link BadFrameException}, and never an allocation of more than a small multiple of the
 * bytes in the frame. Lengths are limited to the remaining bytes, and counts to the remaining bytes divided by the
 * minimum size of an element.
 *
 * <p>Byte fields and records are slices: they are valid as long as the frame and have no reference of their own.
 * Invalid UTF-8 is read with replacement characters, as in other implementations. Does not change the indexes of the
 * buffer. One thread, which owns the frame.
 *
 * <p>Source: Kafka protocol guide, "Protocol Primitive Types"; KIP-482 for compact types and tagged fields.
 */
public final class MessageReader {
    /** The maximum size of a string in bytes, even if its compact length could be larger. */
    public static final int MAX_STRING_SIZE_BYTES = Short.MAX_VALUE;

    /** The minimum size of a tagged field: one byte for the tag and one for the size. */
    private static final int MIN_TAGGED_FIELD_SIZE_BYTES = 2;

    private static final int NULL = -1;

    private final ByteBuf buffer;
    private final int limit;
    private final int maxEntries;
    private int position;
    private int entries;

    /** Creates a reader of the readable bytes of {@code buffer}. */
    public MessageReader(ByteBuf buffer) {
        this(buffer, Integer.MAX_VALUE);
    }

    /**
     * Like {@link #MessageReader(ByteBuf)}, with a limit for the memory that the message takes.
     *
     * @param maxEntries the maximum number of elements of all arrays together; an element of two bytes can become a
     *     large object
     */
    public MessageReader(ByteBuf buffer, int maxEntries) {
        this.buffer = buffer;
        this.maxEntries = maxEntries;
        this.position = buffer.readerIndex();
        this.limit = buffer.writerIndex();
    }

    /** The index in the buffer of the next byte. */
    public int position() {
        return position;
    }

    /** The number of elements of all arrays read so far. */
    public int entries() {
        return entries;
    }

    /** The number of remaining bytes. */
    public int remaining() {
        return limit - position;
    }

    /** Returns the number that starts {@code ahead} bytes after the position, without changing the position. */
    public short peekShort(int ahead) {
        if (remaining() < ahead + Short.BYTES) {
            throw new BadFrameException("a header of " + remaining() + " bytes");
        }
        return buffer.getShort(position + ahead);
    }

    public boolean readBoolean() {
        return buffer.getByte(advance(Byte.BYTES)) != 0;
    }

    public byte readByte() {
        return buffer.getByte(advance(Byte.BYTES));
    }

    public short readShort() {
        return buffer.getShort(advance(Short.BYTES));
    }

    public int readUnsignedShort() {
        return buffer.getUnsignedShort(advance(Short.BYTES));
    }

    public int readInt() {
        return buffer.getInt(advance(Integer.BYTES));
    }

    public long readUnsignedInt() {
        return buffer.getUnsignedInt(advance(Integer.BYTES));
    }

    public long readLong() {
        return buffer.getLong(advance(Long.BYTES));
    }

    public double readDouble() {
        return Double.longBitsToDouble(readLong());
    }

    public Uuid readUuid() {
        long most = readLong();
        long least = readLong();
        return (most | least) == 0 ? Uuid.ZERO : new Uuid(most, least);
    }

    /** Reads an unsigned number of up to 31 bits in at most 5 bytes. All lengths, counts and tags have this form. */
    public int readUnsignedVarint() {
        byte first = readByte();
        return first >= 0 ? first : readLongerVarint(first & 0x7F);
    }

    private int readLongerVarint(int first) {
        int value = first;
        for (int shift = 7; shift < 28; shift += 7) {
            byte next = readByte();
            value |= (next & 0x7F) << shift;
            if (next >= 0) {
                return value;
            }
        }
        byte last = readByte();
        if (last < 0 || last > 0x07) {
            throw new BadFrameException("a variable-length number exceeds 31 bits");
        }
        return value | (last << 28);
    }

    /** Reads the byte that precedes a nullable struct. Returns false for null. */
    public boolean readPresent() {
        byte marker = readByte();
        if (marker != -1 && marker != 1) {
            throw new BadFrameException("the marker of a nullable struct is " + marker);
        }
        return marker == 1;
    }

    public String readString(boolean flexible) {
        String text = readNullableString(flexible);
        if (text == null) {
            throw new BadFrameException("a string is null but must not be");
        }
        return text;
    }

    public String readNullableString(boolean flexible) {
        int sizeBytes = flexible ? readUnsignedVarint() - 1 : readShort();
        if (sizeBytes == 0) {
            return "";
        }
        if (sizeBytes == NULL) {
            return null;
        }
        if (sizeBytes < 0 || sizeBytes > MAX_STRING_SIZE_BYTES) {
            throw new BadFrameException("a string of " + sizeBytes + " bytes");
        }
        return buffer.toString(advance(sizeBytes), sizeBytes, StandardCharsets.UTF_8);
    }

    public ByteBuf readBytes(boolean flexible) {
        ByteBuf bytes = readNullableBytes(flexible);
        if (bytes == null) {
            throw new BadFrameException("a byte field is null but must not be");
        }
        return bytes;
    }

    public ByteBuf readNullableBytes(boolean flexible) {
        int sizeBytes = flexible ? readUnsignedVarint() - 1 : readInt();
        return sizeBytes == NULL ? null : buffer.slice(advance(sizeBytes), sizeBytes);
    }

    public RecordsData readRecords(boolean flexible) {
        return RecordsData.of(readBytes(flexible));
    }

    public RecordsData readNullableRecords(boolean flexible) {
        ByteBuf bytes = readNullableBytes(flexible);
        return bytes == null ? null : RecordsData.of(bytes);
    }

    /** Reads the count of an array whose elements have at least {@code minimumSizeBytes} bytes each. */
    public int readCount(boolean flexible, int minimumSizeBytes) {
        int count = readNullableCount(flexible, minimumSizeBytes);
        if (count == NULL) {
            throw new BadFrameException("an array is null but must not be");
        }
        return count;
    }

    /** Like {@link #readCount}, but returns -1 for null. */
    public int readNullableCount(boolean flexible, int minimumSizeBytes) {
        int count = flexible ? readUnsignedVarint() - 1 : readInt();
        if (count < NULL || (long) count * minimumSizeBytes > remaining()) {
            throw new BadFrameException("an array of " + count + " elements with " + remaining() + " bytes remaining");
        }
        if (count > maxEntries - entries) {
            throw new BadFrameException.TooManyEntriesException(maxEntries);
        }
        entries += Math.max(0, count);
        return count;
    }

    /** For generated code: returns a list for a count that has just been read. */
    public static <T> List<T> newList(int count) {
        if (count == 0) {
            return List.of();
        }
        return count == NULL ? null : new ArrayList<>(count);
    }

    /** Reads the number of tagged fields that follow. */
    public int readTagCount() {
        int count = readUnsignedVarint();
        if (count > remaining() / MIN_TAGGED_FIELD_SIZE_BYTES) {
            throw new BadFrameException(count + " tagged fields with " + remaining() + " bytes remaining");
        }
        return count;
    }

    /** Reads the tag of a tagged field. */
    public int readTag() {
        return readUnsignedVarint();
    }

    /** Reads the size of a tagged field and returns the index of its end. */
    public int readTagEnd() {
        int sizeBytes = readUnsignedVarint();
        if (sizeBytes > remaining()) {
            throw new BadFrameException("a tagged field of " + sizeBytes + " bytes with " + remaining() + " remaining");
        }
        return position + sizeBytes;
    }

    /** Throws if a tagged field did not end at {@code end}. */
    public void endTag(int end) {
        if (position != end) {
            throw new BadFrameException("the size of a tagged field differs from that of its content");
        }
    }

    /** Skips to {@code end}, an index returned by {@link #readTagEnd}. */
    public void skipTo(int end) {
        advance(end - position);
    }

    /** Skips all tagged fields of a struct that has no known ones. */
    public void skipTags() {
        for (int left = readTagCount(); left > 0; left--) {
            readTag();
            skipTo(readTagEnd());
        }
    }

    /** Throws if there are remaining bytes. */
    public void expectEnd() {
        if (position != limit) {
            throw new BadFrameException(remaining() + " bytes remain after the message");
        }
    }

    /** Skips {@code sizeBytes} bytes and returns the index of the first of them. */
    private int advance(int sizeBytes) {
        int at = position;
        if (sizeBytes < 0 || sizeBytes > limit - at) {
            throw new BadFrameException(sizeBytes + " bytes expected, " + (limit - at) + " remaining");
        }
        position = at + sizeBytes;
        return at;
    }
}
