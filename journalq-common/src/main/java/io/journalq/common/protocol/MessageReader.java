package io.journalq.common.protocol;

import io.journalq.common.id.Uuid;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the protocol's primitive types from a frame, in order. Nothing in the bytes can make it fail with anything but
 * {@link BadFrameException}, or make it allocate more than a small multiple of the bytes that are there: lengths are
 * bounded by the bytes that remain, counts by those divided by the smallest size of an element.
 *
 * <p>Byte fields and records are slices: they live as long as the frame does and count no reference of their own. Text
 * that is not valid UTF-8 is read with replacement characters, as other implementations of the protocol do. Does not
 * move the buffer's indexes. One thread, the frame's owner.
 *
 * <p>Source: the Kafka protocol guide, "Protocol Primitive Types"; KIP-482 for the compact forms and tagged fields.
 */
public final class MessageReader {
    /** Longest text in bytes, also where the compact length could say more. */
    public static final int MAX_STRING_SIZE_BYTES = Short.MAX_VALUE;

    /** Fewest bytes of a tagged field: its number and its size. */
    private static final int MIN_TAGGED_FIELD_SIZE_BYTES = 2;

    private static final int NULL = -1;

    private final ByteBuf buffer;
    private final int limit;
    private final int maxEntries;
    private int position;
    private int entries;

    /** Reads what is readable in {@code buffer}. */
    public MessageReader(ByteBuf buffer) {
        this(buffer, Integer.MAX_VALUE);
    }

    /**
     * As {@link #MessageReader(ByteBuf)}, with a bound for what the bytes become in memory.
     *
     * @param maxEntries most elements that all arrays together may have: an element of two bytes becomes an object of many
     */
    public MessageReader(ByteBuf buffer, int maxEntries) {
        this.buffer = buffer;
        this.maxEntries = maxEntries;
        this.position = buffer.readerIndex();
        this.limit = buffer.writerIndex();
    }

    /** Index in the buffer of the byte that comes next. */
    public int position() {
        return position;
    }

    /** Elements that all arrays together had so far. */
    public int entries() {
        return entries;
    }

    /** Bytes that are left. */
    public int remaining() {
        return limit - position;
    }

    /** The number that stands {@code ahead} bytes further on, which is not passed over. */
    short peekShort(int ahead) {
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

    /** Reads an unsigned number of up to 31 bits in at most 5 bytes: what every length, count and tag is. */
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

    /** Reads a signed number in zigzag form, at most 5 bytes. */
    public int readVarint() {
        long value = readUnsignedBits(Integer.SIZE);
        return (int) (value >>> 1) ^ -(int) (value & 1);
    }

    /** Reads a signed number in zigzag form, at most 10 bytes. */
    public long readVarlong() {
        long value = readUnsignedBits(Long.SIZE);
        return (value >>> 1) ^ -(value & 1);
    }

    private long readUnsignedBits(int bits) {
        long value = 0;
        for (int shift = 0; shift < bits; shift += 7) {
            byte next = readByte();
            int used = next & 0x7F;
            if (bits - shift < 7 && used >>> (bits - shift) != 0) {
                break;
            }
            value |= (long) used << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new BadFrameException("a variable-length number exceeds " + bits + " bits");
    }

    /** Reads the byte before a struct that may be null. */
    public boolean readPresent() {
        byte marker = readByte();
        if (marker != -1 && marker != 1) {
            throw new BadFrameException("a struct's marker is " + marker);
        }
        return marker == 1;
    }

    public String readString(boolean flexible) {
        String text = readNullableString(flexible);
        if (text == null) {
            throw new BadFrameException("text is null where it may not be");
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
            throw new BadFrameException("text of " + sizeBytes + " bytes");
        }
        return buffer.toString(advance(sizeBytes), sizeBytes, StandardCharsets.UTF_8);
    }

    public ByteBuf readBytes(boolean flexible) {
        ByteBuf bytes = readNullableBytes(flexible);
        if (bytes == null) {
            throw new BadFrameException("bytes are null where they may not be");
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

    /** Reads the count of an array whose elements take at least {@code minimumSizeBytes} each. */
    public int readCount(boolean flexible, int minimumSizeBytes) {
        int count = readNullableCount(flexible, minimumSizeBytes);
        if (count == NULL) {
            throw new BadFrameException("an array is null where it may not be");
        }
        return count;
    }

    /** As {@link #readCount}; -1 for null. */
    public int readNullableCount(boolean flexible, int minimumSizeBytes) {
        int count = flexible ? readUnsignedVarint() - 1 : readInt();
        if (count < NULL || (long) count * minimumSizeBytes > remaining()) {
            throw new BadFrameException("an array of " + count + " elements with " + remaining() + " bytes left");
        }
        if (count > maxEntries - entries) {
            throw new TooManyEntriesException(maxEntries);
        }
        entries += Math.max(0, count);
        return count;
    }

    /** For generated code: the list for a count that was just read. */
    public static <T> List<T> newList(int count) {
        if (count == 0) {
            return List.of();
        }
        return count == NULL ? null : new ArrayList<>(count);
    }

    /** Reads how many tagged fields follow. */
    public int readTagCount() {
        int count = readUnsignedVarint();
        if (count > remaining() / MIN_TAGGED_FIELD_SIZE_BYTES) {
            throw new BadFrameException(count + " tagged fields with " + remaining() + " bytes left");
        }
        return count;
    }

    /** Reads the number of a tagged field. */
    public int readTag() {
        return readUnsignedVarint();
    }

    /** Reads the size of a tagged field; returns the index at which it ends. */
    public int readTagEnd() {
        int sizeBytes = readUnsignedVarint();
        if (sizeBytes > remaining()) {
            throw new BadFrameException("a tagged field of " + sizeBytes + " bytes with " + remaining() + " left");
        }
        return position + sizeBytes;
    }

    /** Refuses a tagged field that did not end where its size said. */
    public void endTag(int end) {
        if (position != end) {
            throw new BadFrameException("a tagged field's size is not that of its content");
        }
    }

    /** Passes over bytes up to {@code end}, an index that {@link #readTagEnd} gave. */
    public void skipTo(int end) {
        advance(end - position);
    }

    /** Passes over all the tagged fields of a struct that knows none. */
    public void skipTags() {
        for (int left = readTagCount(); left > 0; left--) {
            readTag();
            skipTo(readTagEnd());
        }
    }

    /** Refuses a frame with bytes left over. */
    public void expectEnd() {
        if (position != limit) {
            throw new BadFrameException(remaining() + " bytes are left after the message");
        }
    }

    /** Moves past {@code sizeBytes} bytes that are there; returns the index of the first. */
    private int advance(int sizeBytes) {
        int at = position;
        if (sizeBytes < 0 || sizeBytes > limit - at) {
            throw new BadFrameException(sizeBytes + " bytes wanted, " + (limit - at) + " left");
        }
        position = at + sizeBytes;
        return at;
    }
}
