package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;

/** Writes the fields of a format: big-endian numbers, and text and bytes behind their length. One thread. */
final class FieldWriter {
    private static final int MAX_TEXT_BYTES = 0xFFFF;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    FieldWriter bytes(byte[] bytes) {
        out.writeBytes(bytes);
        return this;
    }

    FieldWriter number8(int value) {
        out.write(value);
        return this;
    }

    FieldWriter number32(int value) {
        return bytes(ByteBuffer.allocate(Integer.BYTES).putInt(value).array());
    }

    FieldWriter number64(long value) {
        return bytes(ByteBuffer.allocate(Long.BYTES).putLong(value).array());
    }

    /** Text in UTF-8 behind its length in two bytes. */
    FieldWriter text(String text) {
        byte[] encoded = text.getBytes(UTF_8);
        if (encoded.length > MAX_TEXT_BYTES) {
            throw new IllegalArgumentException("a text of " + encoded.length + " bytes");
        }
        return number8(encoded.length >> 8).number8(encoded.length).bytes(encoded);
    }

    /** Bytes behind their length in four bytes; a length of -1 for null. */
    FieldWriter nullable(byte[] bytes) {
        return bytes == null ? number32(-1) : number32(bytes.length).bytes(bytes);
    }

    byte[] done() {
        return out.toByteArray();
    }
}
