package io.journalq.bench.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The responses of a broker on one connection, and what else is sent there. One thread. */
interface Responses {
    /** What is sent before the first request: each part after the response to the previous one. */
    default List<ByteBuffer> opening() {
        return List.of();
    }

    /**
     * Reads what has arrived, up to the position of {@code in}, and removes what is not needed again.
     *
     * @return whether the response to what was sent last is complete
     */
    boolean isComplete(ByteBuffer in);

    /** What the broker asked for beside the responses since the last call; null if it asked for nothing. */
    default ByteBuffer reply() {
        return null;
    }

    /** The length of the head of an HTTP response that begins with the buffer; -1 if it is not complete. */
    static int headBytes(ByteBuffer in) {
        for (int i = 3; i < in.position(); i++) {
            if (in.get(i) == '\n' && in.get(i - 2) == '\n') {
                return i + 1;
            }
        }
        return -1;
    }

    /** The first bytes of the buffer as text. */
    static String text(ByteBuffer in, int length) {
        byte[] bytes = new byte[length];
        in.get(0, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
