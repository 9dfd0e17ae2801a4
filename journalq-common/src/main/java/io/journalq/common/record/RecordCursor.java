package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Iterates over the records of a decompressed batch without allocation. A step reads only the length of the record; the
 * other fields are decoded on demand. Every read is checked against the end of the record, so that a record cannot
 * extend into the next one. One thread.
 *
 * <p>Bytes are read through a view of the JDK, because Netty's buffers check the reference count at each byte, through
 * calls that are not inlined if buffers of several classes pass. The cursor checks the count once for each group of
 * fields.
 */
final class RecordCursor {
    private ByteBuf data;
    /** The bytes of {@link #data} up to {@link #end}, at the same indexes. */
    private ByteBuffer bytes;

    private int end;
    private int recordsLeft;
    private int recordStart;
    private int recordEnd;

    /** The index of the next field of the current record that has not been decoded. */
    private int at;

    private Stage stage = Stage.START;
    private long timestampDelta;
    private int offsetDeltaIndex;
    private int offsetDelta;
    private int keyIndex;
    private int keySizeBytes;
    private int valueIndex;
    private int valueSizeBytes;

    private enum Stage {
        START,
        DELTAS,
        KEY_AND_VALUE
    }

    /**
     * Starts with {@code count} records, which must occupy exactly the bytes from {@code index} to {@code endIndex}.
     */
    void reset(ByteBuf buffer, int index, int endIndex, int count) {
        data = buffer;
        bytes = buffer.nioBuffer(0, endIndex);
        end = endIndex;
        recordsLeft = count;
        recordEnd = index;
        stage = Stage.START;
    }

    /** Drops the reference to the buffer. */
    void clear() {
        data = null;
        bytes = null;
        recordsLeft = 0;
    }

    /** Steps to the next record. Returns false after the last one, which must end at the end of the batch. */
    boolean next() {
        if (recordsLeft == 0) {
            if (data != null && recordEnd != end) {
                throw new InvalidBatchException("bytes after the last record");
            }
            return false;
        }
        requireUnreleased();
        recordsLeft--;
        at = recordEnd;
        recordEnd = end;
        int bodyBytes = readInt();
        if (bodyBytes < 0 || bodyBytes > end - at) {
            throw new InvalidBatchException("a record of " + bodyBytes + " bytes where " + (end - at) + " are left");
        }
        recordStart = at;
        recordEnd = at + bodyBytes;
        stage = Stage.START;
        return true;
    }

    /** The index of the attributes of the current record, after its length. */
    int recordIndex() {
        return recordStart;
    }

    /** The index after the current record. */
    int recordEndIndex() {
        return recordEnd;
    }

    /** The index of the offset delta of the current record, after the timestamp delta. */
    int offsetDeltaIndex() {
        decodeDeltas();
        return offsetDeltaIndex;
    }

    /** The buffer that the indexes refer to. */
    ByteBuf data() {
        return data;
    }

    long timestampDelta() {
        decodeDeltas();
        return timestampDelta;
    }

    int offsetDelta() {
        decodeDeltas();
        return offsetDelta;
    }

    int keyIndex() {
        decodeKeyAndValue();
        return keyIndex;
    }

    /** The size of the key, or -1 for null. */
    int keySizeBytes() {
        decodeKeyAndValue();
        return keySizeBytes;
    }

    int valueIndex() {
        decodeKeyAndValue();
        return valueIndex;
    }

    /** The size of the value, or -1 for null. */
    int valueSizeBytes() {
        decodeKeyAndValue();
        return valueSizeBytes;
    }

    /** The headers. Each call decodes them. */
    List<Header> headers() {
        decodeKeyAndValue();
        int resume = at;
        int count = readHeaderCount();
        List<Header> headers = count == 0 ? Collections.emptyList() : new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int nameBytes = readLength(false);
            String name = data.toString(at, nameBytes, StandardCharsets.UTF_8);
            at += nameBytes;
            int sizeBytes = readLength(true);
            byte[] value = null;
            if (sizeBytes >= 0) {
                value = new byte[sizeBytes];
                data.getBytes(at, value);
                at += sizeBytes;
            }
            headers.add(new Header(name, value));
        }
        requireEnd();
        at = resume;
        return headers;
    }

    /** Checks all fields of the record without creating objects. Returns the number of headers. */
    int check() {
        decodeKeyAndValue();
        int resume = at;
        int count = readHeaderCount();
        for (int i = 0; i < count; i++) {
            int nameBytes = readLength(false);
            at += nameBytes;
            int sizeBytes = readLength(true);
            at += Math.max(0, sizeBytes);
        }
        requireEnd();
        at = resume;
        return count;
    }

    /**
     * The mode in the envelope among the headers ({@link SealMark}), without creating objects. {@link SealMark#NONE} if
     * there is none, or more than one.
     */
    int sealMode() {
        decodeKeyAndValue();
        int resume = at;
        int count = readHeaderCount();
        int envelopes = 0;
        int mode = SealMark.NONE;
        for (int i = 0; i < count; i++) {
            int nameBytes = readLength(false);
            boolean envelope = nameBytes == SealMark.HEADER_BYTES.length && has(SealMark.HEADER_BYTES, at);
            at += nameBytes;
            int sizeBytes = readLength(true);
            if (envelope) {
                envelopes++;
                mode = sizeBytes > SealMark.MAGIC_BYTES.length && has(SealMark.MAGIC_BYTES, at)
                        ? bytes.get(at + SealMark.MAGIC_BYTES.length)
                        : SealMark.NONE;
            }
            at += Math.max(0, sizeBytes);
        }
        at = resume;
        return envelopes == 1 ? mode : SealMark.NONE;
    }

    private boolean has(byte[] expected, int index) {
        for (int i = 0; i < expected.length; i++) {
            if (bytes.get(index + i) != expected[i]) {
                return false;
            }
        }
        return true;
    }

    private void requireUnreleased() {
        if (data.refCnt() == 0) {
            throw new IllegalReferenceCountException(0);
        }
    }

    private void requireEnd() {
        if (at != recordEnd) {
            throw new InvalidBatchException("bytes after the last field of a record");
        }
    }

    private int readHeaderCount() {
        int count = readInt();
        // A header has at least two bytes.
        if (count < 0 || count > (recordEnd - at) / 2) {
            throw new InvalidBatchException("a record claims " + count + " headers");
        }
        return count;
    }

    private void decodeDeltas() {
        if (stage != Stage.START) {
            return;
        }
        requireUnreleased();
        at = recordStart;
        readByte(); // attributes: none are assigned, and readers ignore them
        timestampDelta = readLong();
        offsetDeltaIndex = at;
        offsetDelta = readInt();
        stage = Stage.DELTAS;
    }

    private void decodeKeyAndValue() {
        if (stage == Stage.KEY_AND_VALUE) {
            return;
        }
        decodeDeltas();
        requireUnreleased();
        keySizeBytes = readLength(true);
        keyIndex = at;
        at += Math.max(0, keySizeBytes);
        valueSizeBytes = readLength(true);
        valueIndex = at;
        at += Math.max(0, valueSizeBytes);
        stage = Stage.KEY_AND_VALUE;
    }

    private int readLength(boolean nullable) {
        int length = readInt();
        if (length < (nullable ? -1 : 0) || length > recordEnd - at) {
            throw new InvalidBatchException("a field of " + length + " bytes in a shorter record");
        }
        return length;
    }

    private byte readByte() {
        if (at >= recordEnd) {
            throw new InvalidBatchException("the record is truncated");
        }
        return bytes.get(at++);
    }

    private int readInt() {
        int value = 0;
        for (int shift = 0; shift < 7 * Varint.MAX_INT_SIZE_BYTES; shift += 7) {
            byte next = readByte();
            value |= (next & 0x7F) << shift;
            if (next >= 0) {
                return (value >>> 1) ^ -(value & 1);
            }
        }
        throw new InvalidBatchException("a variable-length integer does not end");
    }

    private long readLong() {
        long value = 0;
        for (int shift = 0; shift < 7 * Varint.MAX_LONG_SIZE_BYTES; shift += 7) {
            byte next = readByte();
            value |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return (value >>> 1) ^ -(value & 1);
            }
        }
        throw new InvalidBatchException("a variable-length integer does not end");
    }
}
