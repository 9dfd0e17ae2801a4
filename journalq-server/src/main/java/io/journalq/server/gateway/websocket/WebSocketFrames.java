package io.journalq.server.gateway.websocket;

import io.netty.buffer.ByteBuf;

/** Writes the heads of the broker's frames. Stateless. */
final class WebSocketFrames {
    static final int CONTINUATION = 0;
    static final int TEXT = 1;
    static final int BINARY = 2;
    static final int CLOSE = 8;
    static final int PING = 9;
    static final int PONG = 10;

    /** Space for a head before a payload. */
    static final int MAX_HEAD_BYTES = 10;

    private static final int LAST = 0x80;
    private static final int MAX_SHORT_BYTES = 0xffff;
    private static final int MAX_TINY_BYTES = 125;
    private static final byte SHORT_LENGTH = 126;
    private static final byte LONG_LENGTH = 127;

    private WebSocketFrames() {}

    /** Leaves space for a head in an empty buffer. */
    static ByteBuf begin(ByteBuf buffer) {
        return buffer.writerIndex(MAX_HEAD_BYTES);
    }

    /**
     * Writes the head before the payload of a buffer that {@link #begin} has prepared.
     *
     * @param moreBytes size of the rest of the payload, which is in other buffers
     */
    static ByteBuf end(ByteBuf buffer, int opcode, int moreBytes) {
        int payloadBytes = buffer.writerIndex() - MAX_HEAD_BYTES + moreBytes;
        int start;
        if (payloadBytes <= MAX_TINY_BYTES) {
            start = MAX_HEAD_BYTES - 2;
            buffer.setByte(start + 1, payloadBytes);
        } else if (payloadBytes <= MAX_SHORT_BYTES) {
            start = MAX_HEAD_BYTES - 2 - Short.BYTES;
            buffer.setByte(start + 1, SHORT_LENGTH);
            buffer.setShort(start + 2, payloadBytes);
        } else {
            start = 0;
            buffer.setByte(1, LONG_LENGTH);
            buffer.setLong(2, payloadBytes);
        }
        buffer.setByte(start, LAST | opcode);
        return buffer.readerIndex(start);
    }
}
