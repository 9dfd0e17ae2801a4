package io.journalq.bench.load;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** What a NATS server sends over a WebSocket. Messages can span frames, and frames can span reads. One thread. */
final class NatsStream {
    private static final int START_BYTES = 64 * 1024;
    private static final int OPCODE = 0x0f;
    private static final int CONTROL = 0x08;
    private static final int LINE_END_BYTES = 2;

    private final WebSocketFrame head = new WebSocketFrame();
    private long frameLeft;
    /** What has arrived and was not shown: at most a part of a message between calls. */
    private byte[] pending = new byte[START_BYTES];

    private int size;

    /** Sees what arrives. */
    interface Visitor {
        /** A message from {@code index} to {@code end}, which is valid during the call. */
        void onMessage(byte[] bytes, int index, int end) throws IOException;

        void onPing() throws IOException;

        void onPong();
    }

    /** Takes everything that remains in a buffer, and shows what is complete. */
    void take(ByteBuffer from, Visitor visitor) throws IOException {
        while (from.hasRemaining()) {
            if (frameLeft == 0) {
                if (head.take(from.get() & 0xff)) {
                    begin(visitor);
                }
            } else {
                int part = (int) Math.min(frameLeft, from.remaining());
                if ((head.type() & CONTROL) == 0) {
                    append(from, part);
                } else {
                    from.position(from.position() + part);
                }
                frameLeft -= part;
            }
        }
        show(visitor);
    }

    private void begin(Visitor visitor) throws IOException {
        int opcode = head.type() & OPCODE;
        if (head.type() == WebSocketFrame.CLOSE) {
            // An error that explains it comes first.
            show(visitor);
            throw failed("closed the WebSocket");
        }
        if (opcode == (WebSocketFrame.TEXT & OPCODE)) {
            throw failed("sent a frame of text");
        }
        frameLeft = head.length();
    }

    private static IOException failed(String what) {
        return new IOException("the NATS server " + what);
    }

    private void append(ByteBuffer from, int count) {
        if (pending.length < size + count) {
            pending = Arrays.copyOf(pending, 2 * (size + count));
        }
        from.get(pending, size, count);
        size += count;
    }

    private void show(Visitor visitor) throws IOException {
        int start = 0;
        for (int next = showNext(0, visitor); next > start; next = showNext(start, visitor)) {
            start = next;
        }
        System.arraycopy(pending, start, pending, 0, size - start);
        size -= start;
    }

    /** Shows what begins at an index. Returns the index after it, or {@code start} if it is not complete. */
    private int showNext(int start, Visitor visitor) throws IOException {
        int lineEnd = start;
        while (lineEnd < size && pending[lineEnd] != '\n') {
            lineEnd++;
        }
        if (lineEnd == size) {
            return start;
        }
        int next = lineEnd + 1;
        switch (pending[start]) {
            case 'M' -> {
                int end = next + messageBytes(lineEnd);
                if (end + LINE_END_BYTES > size) {
                    return start;
                }
                visitor.onMessage(pending, next, end);
                next = end + LINE_END_BYTES;
            }
            case 'P' -> {
                if (pending[start + 1] == 'I') {
                    visitor.onPing();
                } else {
                    visitor.onPong();
                }
            }
            case 'I', '+' -> {
                // The server introduces itself, or confirms.
            }
            default ->
                throw failed(
                        "reported: " + new String(pending, start, lineEnd - start, StandardCharsets.UTF_8).strip());
        }
        return next;
    }

    /** The last number of a line whose line feed is at an index, such as {@code MSG subject 1 537}. */
    private int messageBytes(int lineEnd) {
        int number = 0;
        int unit = 1;
        for (int digit = lineEnd - LINE_END_BYTES; pending[digit] != ' '; digit--) {
            number += unit * (pending[digit] - '0');
            unit *= 10;
        }
        return number;
    }
}
