package io.journalq.bench.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The head of a frame of a WebSocket: reads those of a server, and writes those of a client. One thread. */
final class WebSocketFrame {
    /** The first byte of a whole message of text. */
    static final int TEXT = 0x81;

    /** The first byte of a whole binary message. */
    static final int BINARY = 0x82;

    static final int CLOSE = 0x88;
    static final int PING = 0x89;

    /** The highest number of bytes that a client's frame has before its payload. */
    static final int MAX_HEAD_BYTES = 14;

    private static final int MAX_TINY = 125;
    private static final int SHORT_LENGTH = 126;
    private static final int LONG_LENGTH = 127;
    private static final int MASKED = 0x80;

    private int taken;
    private int lengthBytes;
    private int type;
    private long length;

    /** The request that begins a WebSocket. {@code headers} are further lines, each with its end. */
    static byte[] upgrade(String path, String headers) {
        return ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n" + headers
                        + "\r\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    /** Writes the head of a client's frame. Its mask is zero, which leaves the payload as it is. */
    static void putHead(ByteBuffer out, int type, int payloadBytes) {
        out.put((byte) type);
        if (payloadBytes <= MAX_TINY) {
            out.put((byte) (MASKED | payloadBytes));
        } else if (payloadBytes <= 0xffff) {
            out.put((byte) (MASKED | SHORT_LENGTH)).putShort((short) payloadBytes);
        } else {
            out.put((byte) (MASKED | LONG_LENGTH)).putLong(payloadBytes);
        }
        out.putInt(0);
    }

    /** A client's frame with a payload of ASCII. */
    static byte[] of(int type, String text) {
        byte[] payload = text.getBytes(StandardCharsets.US_ASCII);
        ByteBuffer frame = ByteBuffer.allocate(MAX_HEAD_BYTES + payload.length);
        putHead(frame, type, payload.length);
        frame.put(payload).flip();
        byte[] bytes = new byte[frame.remaining()];
        frame.get(bytes);
        return bytes;
    }

    /** Takes the next byte of the head of a server's frame. Returns whether the head is complete. */
    boolean take(int next) {
        if (taken == 0) {
            type = next;
        } else if (taken == 1) {
            if (next >= MASKED) {
                throw new IllegalStateException("the server masked a frame");
            }
            lengthBytes = next == SHORT_LENGTH ? Short.BYTES : next == LONG_LENGTH ? Long.BYTES : 0;
            length = lengthBytes == 0 ? next : 0;
        } else {
            length = length << Byte.SIZE | next;
            lengthBytes--;
        }
        taken++;
        boolean complete = taken > 1 && lengthBytes == 0;
        if (complete) {
            taken = 0;
        }
        return complete;
    }

    /** The first byte of the last complete head: the opcode, and the bit of the last frame of a message. */
    int type() {
        return type;
    }

    /** The length of the payload after the last complete head. */
    long length() {
        return length;
    }
}
