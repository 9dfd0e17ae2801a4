package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.journalq.client.error.SealViolationException.Reason;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Reads what {@link FieldWriter} writes. No length is believed before the bytes are there. One thread. */
final class FieldReader {
    private final ByteBuffer in;

    FieldReader(byte[] bytes) {
        this.in = ByteBuffer.wrap(bytes);
    }

    int position() {
        return in.position();
    }

    int leftBytes() {
        return in.remaining();
    }

    byte[] bytes(int count) {
        need(count);
        byte[] bytes = new byte[count];
        in.get(bytes);
        return bytes;
    }

    int number8() {
        need(1);
        return in.get() & 0xFF;
    }

    int number32() {
        need(Integer.BYTES);
        return in.getInt();
    }

    long number64() {
        need(Long.BYTES);
        return in.getLong();
    }

    /** Text in UTF-8. Malformed text is refused, so that no two byte sequences are the same text. */
    String text() {
        byte[] encoded = bytes(number8() << 8 | number8());
        String text = new String(encoded, UTF_8);
        if (!Arrays.equals(text.getBytes(UTF_8), encoded)) {
            throw new SealFault(Reason.MALFORMED, "a text that is not UTF-8");
        }
        return text;
    }

    byte[] nullable() {
        int length = number32();
        return length == -1 ? null : bytes(length);
    }

    /** Reads bytes that are always the same. */
    void expect(byte[] constant, String what) {
        if (leftBytes() < constant.length || !Arrays.equals(bytes(constant.length), constant)) {
            throw new SealFault(Reason.MALFORMED, "it is not " + what);
        }
    }

    void expectEnd() {
        if (in.hasRemaining()) {
            throw new SealFault(Reason.MALFORMED, in.remaining() + " bytes behind the last field");
        }
    }

    private void need(int count) {
        if (count < 0 || count > in.remaining()) {
            throw new SealFault(Reason.MALFORMED, "a field of " + count + " bytes, with " + in.remaining() + " left");
        }
    }
}
