package io.journalq.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;

/** An input made of parts: two bytes of length before each, the last one as long as there are bytes. One thread. */
public final class Parts {
    private final ByteBuffer in;

    /** Reads parts from {@code input}. */
    public Parts(byte[] input) {
        this.in = ByteBuffer.wrap(input);
    }

    /** The next part; null when there is none. */
    public byte[] next() {
        if (in.remaining() < Short.BYTES) {
            return null;
        }
        byte[] part = new byte[Math.min(in.getShort() & 0xFFFF, in.remaining())];
        in.get(part);
        return part;
    }

    /** The next byte, 0 when there is none. */
    public int nextByte() {
        return in.hasRemaining() ? in.get() & 0xFF : 0;
    }

    /** An input of these parts. */
    public static byte[] of(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.write(part.length >> Byte.SIZE);
            out.write(part.length);
            out.writeBytes(part);
        }
        return out.toByteArray();
    }
}
