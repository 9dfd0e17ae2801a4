package io.journalq.server.gateway.consume;

import io.journalq.common.record.BatchReader;
import io.journalq.common.record.Header;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.FastThreadLocal;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/**
 * Writes records as JSON. Keys and values that are not UTF-8 are written in Base64, as {@code keyBase64} and {@code
 * valueBase64}. Text is checked 8 bytes at a time, and copied at once unless it contains characters that JSON escapes.
 * Any thread.
 */
public final class RecordJson {
    private static final byte[] PARTITION = ascii("{\"partition\":");
    private static final byte[] OFFSET = ascii(",\"offset\":");
    private static final byte[] TIMESTAMP = ascii(",\"timestamp\":");
    private static final byte[] KEY = ascii(",\"key");
    private static final byte[] VALUE = ascii(",\"value");
    private static final byte[] TEXT = ascii("\":");
    private static final byte[] BINARY = ascii("Base64\":\"");
    private static final byte[] NULL = ascii("null");
    private static final byte[] HEADERS = ascii(",\"headers\":[");
    private static final byte[] NAME = ascii("{\"name\":");

    private static final long EACH_BYTE = 0x0101010101010101L;
    private static final long HIGH_BITS = 0x8080808080808080L;
    private static final int MAX_ESCAPE_BYTES = 6;
    private static final int CHUNK_BYTES = 1024;
    private static final int MAX_LONG_DIGITS = 20;
    private static final byte[] HEX = ascii("0123456789ABCDEF");

    /** The letter behind the backslash of a character's escape; 0 if there is none, and -1 for its code. */
    private static final byte[] ESCAPES = escapes();

    private static final FastThreadLocal<Chunk> CHUNKS = new FastThreadLocal<>() {
        @Override
        protected Chunk initialValue() {
            return new Chunk();
        }
    };

    /** Space for text that has escapes. */
    private static final class Chunk {
        private final byte[] text = new byte[CHUNK_BYTES];
        private final byte[] escaped = new byte[CHUNK_BYTES * MAX_ESCAPE_BYTES];
    }

    private RecordJson() {}

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] escapes() {
        byte[] escapes = new byte[256];
        for (int control = 0; control < ' '; control++) {
            escapes[control] = -1;
        }
        escapes['\b'] = 'b';
        escapes['\t'] = 't';
        escapes['\n'] = 'n';
        escapes['\f'] = 'f';
        escapes['\r'] = 'r';
        escapes['"'] = '"';
        escapes['\\'] = '\\';
        return escapes;
    }

    /**
     * Writes the current record of a reader as an object.
     *
     * @param out grows as needed
     */
    public static void write(ByteBuf out, int partition, BatchReader record) {
        out.writeBytes(PARTITION);
        writeNumber(out, partition);
        out.writeBytes(OFFSET);
        writeNumber(out, record.offset());
        out.writeBytes(TIMESTAMP);
        writeNumber(out, record.timestampMs());
        writeMember(out, KEY, record.key());
        writeMember(out, VALUE, record.value());
        List<Header> headers = record.headers();
        if (!headers.isEmpty()) {
            byte[] before = HEADERS;
            for (Header header : headers) {
                out.writeBytes(before);
                before = new byte[] {','};
                out.writeBytes(NAME);
                ByteBuf name = Unpooled.wrappedBuffer(header.key().getBytes(StandardCharsets.UTF_8));
                writeText(out, name);
                writeMember(out, VALUE, header.value() == null ? null : Unpooled.wrappedBuffer(header.value()));
                out.writeByte('}');
            }
            out.writeByte(']');
        }
        out.writeByte('}');
    }

    private static void writeMember(ByteBuf out, byte[] name, ByteBuf bytes) {
        out.writeBytes(name);
        if (bytes == null) {
            out.writeBytes(TEXT);
            out.writeBytes(NULL);
            return;
        }
        int start = out.writerIndex();
        out.writeBytes(TEXT);
        if (!writeText(out, bytes)) {
            out.writerIndex(start);
            out.writeBytes(BINARY);
            out.writeBytes(Base64.getEncoder().encode(ByteBufUtil.getBytes(bytes)));
            out.writeByte('"');
        }
    }

    /** Writes a string. Returns false, and writes nothing, if the bytes are not UTF-8. */
    private static boolean writeText(ByteBuf out, ByteBuf text) {
        int start = text.readerIndex();
        int length = text.readableBytes();
        long found = special(text, start, start + length);
        if ((found & HIGH_BITS) != 0 && !ByteBufUtil.isText(text, start, length, StandardCharsets.UTF_8)) {
            return false;
        }
        out.ensureWritable(length + 2);
        out.writeByte('"');
        if ((found & 1) == 0) {
            out.writeBytes(text, start, length);
        } else {
            writeEscaped(out, text, start, length);
        }
        out.writeByte('"');
        return true;
    }

    /** The highest bit of a byte is set if a byte is not ASCII, and the lowest bit if a character must be escaped. */
    private static long special(ByteBuf text, int from, int to) {
        long notAscii = 0;
        long escaped = 0;
        int index = from;
        for (; index <= to - Long.BYTES; index += Long.BYTES) {
            long bytes = text.getLong(index);
            notAscii |= bytes;
            escaped |= (bytes - ' ' * EACH_BYTE) & ~bytes; // below a space
            escaped |= zeros(bytes ^ ('"' * EACH_BYTE)) | zeros(bytes ^ ('\\' * EACH_BYTE));
        }
        boolean anyEscape = (escaped & HIGH_BITS) != 0;
        for (; index < to; index++) {
            int each = text.getByte(index) & 0xff;
            notAscii |= each;
            anyEscape |= ESCAPES[each] != 0;
        }
        return (notAscii & HIGH_BITS) | (anyEscape ? 1 : 0);
    }

    /** Has the highest bit of a byte set if a byte is 0. Bytes above 0x80 are never reported. */
    private static long zeros(long bytes) {
        return (bytes - EACH_BYTE) & ~bytes;
    }

    private static void writeEscaped(ByteBuf out, ByteBuf text, int start, int length) {
        Chunk chunk = CHUNKS.get();
        byte[] escaped = chunk.escaped;
        int end = start + length;
        for (int from = start; from < end; from += CHUNK_BYTES) {
            int count = Math.min(CHUNK_BYTES, end - from);
            text.getBytes(from, chunk.text, 0, count);
            int size = 0;
            for (int i = 0; i < count; i++) {
                byte each = chunk.text[i];
                byte escape = ESCAPES[each & 0xff];
                if (escape == 0) {
                    escaped[size] = each;
                    size++;
                } else {
                    escaped[size] = '\\';
                    escaped[size + 1] = escape;
                    size += 2;
                    if (escape < 0) {
                        escaped[size - 1] = 'u';
                        escaped[size] = '0';
                        escaped[size + 1] = '0';
                        escaped[size + 2] = HEX[each >> 4];
                        escaped[size + 3] = HEX[each & 0xf];
                        size += 4;
                    }
                }
            }
            out.writeBytes(escaped, 0, size);
        }
    }

    private static void writeNumber(ByteBuf out, long number) {
        if (number < 0) {
            out.writeCharSequence(Long.toString(number), StandardCharsets.US_ASCII); // a time before 1970
            return;
        }
        int digits = 1;
        for (long rest = number; rest >= 10; rest /= 10) {
            digits++;
        }
        out.ensureWritable(MAX_LONG_DIGITS);
        int index = out.writerIndex() + digits;
        long rest = number;
        for (int i = 1; i <= digits; i++) {
            out.setByte(index - i, (int) ('0' + rest % 10));
            rest /= 10;
        }
        out.writerIndex(index);
    }
}
