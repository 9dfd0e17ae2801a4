package io.journalq.bench.load;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What a server sends in binary messages over a WebSocket. What it sends can span frames, and frames can span reads. One
 * thread.
 *
 * @param <V> sees what arrives
 */
abstract class WebSocketStream<V> {
    private static final int START_BYTES = 64 * 1024;
    private static final int OPCODE = 0x0f;
    private static final int CONTROL = 0x08;

    private final WebSocketFrame head = new WebSocketFrame();
    private final String server;
    private long frameLeft;
    /** What has arrived and was not shown: at most a part of a message between calls. */
    private byte[] pending = new byte[START_BYTES];

    private int size;

    /** {@code server} is its name. */
    WebSocketStream(String server) {
        this.server = server;
    }

    /** Takes everything that remains in a buffer, and shows what is complete. */
    final void take(ByteBuffer from, V visitor) throws IOException {
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

    private void begin(V visitor) throws IOException {
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

    final IOException failed(String what) {
        return new IOException("the " + server + " server " + what);
    }

    private void append(ByteBuffer from, int count) {
        if (pending.length < size + count) {
            pending = Arrays.copyOf(pending, 2 * (size + count));
        }
        from.get(pending, size, count);
        size += count;
    }

    private void show(V visitor) throws IOException {
        int start = 0;
        for (int next = showNext(pending, 0, size, visitor);
                next > start;
                next = showNext(pending, start, size, visitor)) {
            start = next;
        }
        System.arraycopy(pending, start, pending, 0, size - start);
        size -= start;
    }

    /**
     * Shows what begins at {@code start}. Returns the index after it, or {@code start} if it is not complete before {@code
     * end}.
     */
    abstract int showNext(byte[] bytes, int start, int end, V visitor) throws IOException;
}
