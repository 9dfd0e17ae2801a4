package io.journalq.server.gateway.websocket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * Reads the frames of a client and assembles its messages. Memory is allocated for what has arrived, never for what a
 * length field claims. Pure: all outputs are calls of the {@link Listener}.
 *
 * <p>Source: RFC 6455, section 5.
 */
final class MessageAssembler implements AutoCloseable {
    /** Maximum size of a frame, and of a message in several frames. */
    static final int MAX_MESSAGE_BYTES = 1024 * 1024;

    private static final int MAX_CONTROL_BYTES = 125;
    private static final int MAX_HEAD_BYTES = 14;
    private static final int SHORT_LENGTH = 126;
    private static final int LONG_LENGTH = 127;
    private static final int FIRST_PART_BYTES = 4 * 1024;

    private final ByteBufAllocator allocator;
    private final Listener listener;

    /** The head that arrives. */
    private final byte[] head = new byte[MAX_HEAD_BYTES];

    private int headBytes;

    /** The frame whose payload arrives. */
    private boolean inPayload;

    private boolean last;
    private int opcode;
    private int mask;
    private int payloadBytes;
    private int arrivedBytes;

    /** The message that arrives, with the parts of its earlier frames; null between messages. */
    private ByteBuf message;

    private boolean inMessage;
    private boolean text;

    /** The payload of a control frame, which can arrive between the frames of a message. */
    private ByteBuf control;

    /** Receives what a client has sent. Owns the payloads. */
    interface Listener {
        /**
         * The head of a frame of a message has arrived.
         *
         * @param sizeBytes size of the message up to the end of this frame
         * @param isLast whether the message ends with this frame
         */
        void onFrame(int sizeBytes, boolean isLast);

        void onMessage(boolean isText, ByteBuf payload);

        void onPing(ByteBuf payload);

        void onPong();

        void onClose(ByteBuf payload);
    }

    /** A client breaks the rules of the protocol. The connection must be closed. */
    static final class ProtocolException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final CloseCode code;

        ProtocolException(CloseCode code, String detail) {
            super(detail, null, false, false);
            this.code = code;
        }

        CloseCode code() {
            return code;
        }
    }

    MessageAssembler(ByteBufAllocator allocator, Listener listener) {
        this.allocator = allocator;
        this.listener = listener;
    }

    /** Whether a message or a frame has arrived in part. */
    boolean isWithinMessage() {
        return inMessage || inPayload || headBytes > 0;
    }

    /**
     * Reads up to the end of a head or of a payload.
     *
     * @param in its reader index advances
     * @throws ProtocolException if the client must be disconnected; nothing more may be read then
     */
    void read(ByteBuf in) {
        if (inPayload) {
            readPayload(in);
        } else {
            readHead(in);
        }
    }

    private void readHead(ByteBuf in) {
        while (in.isReadable()) {
            head[headBytes] = in.readByte();
            headBytes++;
            if (headBytes >= 2 && headBytes == wantedHeadBytes()) {
                headBytes = 0;
                beginFrame();
                if (payloadBytes == 0) {
                    readPayload(in);
                }
                return;
            }
        }
    }

    private int wantedHeadBytes() {
        int length = head[1] & 0x7f;
        int lengthBytes = length == LONG_LENGTH ? Long.BYTES : length == SHORT_LENGTH ? Short.BYTES : 0;
        return 2 + lengthBytes + Integer.BYTES;
    }

    private void beginFrame() {
        last = (head[0] & 0x80) != 0;
        opcode = head[0] & 0x0f;
        check((head[0] & 0x70) == 0, "a reserved bit is set");
        // Proxies that do not know WebSockets could take an unmasked payload for a request (RFC 6455, section 10.3).
        check((head[1] & 0x80) != 0, "the frame is not masked");
        long length = length();
        int maskIndex = wantedHeadBytes() - Integer.BYTES;
        mask = (int) number(maskIndex, Integer.BYTES);
        switch (opcode) {
            case WebSocketFrames.CONTINUATION -> check(inMessage, "a continuation without a message");
            case WebSocketFrames.TEXT, WebSocketFrames.BINARY -> {
                check(!inMessage, "a message begins within another");
                inMessage = true;
                text = opcode == WebSocketFrames.TEXT;
            }
            case WebSocketFrames.CLOSE, WebSocketFrames.PING, WebSocketFrames.PONG -> {
                check(last, "a control frame is fragmented");
                check(length <= MAX_CONTROL_BYTES, "a control frame is larger than 125 bytes");
            }
            default -> throw new ProtocolException(CloseCode.PROTOCOL_ERROR, "unknown opcode " + opcode);
        }
        int before = isControl() || message == null ? 0 : message.readableBytes();
        if (length > MAX_MESSAGE_BYTES - before) {
            throw new ProtocolException(CloseCode.TOO_BIG, "a message is larger than 1 MiB");
        }
        payloadBytes = (int) length;
        arrivedBytes = 0;
        inPayload = true;
        if (!isControl()) {
            listener.onFrame(before + payloadBytes, last);
        }
    }

    private boolean isControl() {
        return opcode >= WebSocketFrames.CLOSE;
    }

    private long length() {
        int length = head[1] & 0x7f;
        if (length < SHORT_LENGTH) {
            return length;
        }
        int lengthBytes = length == LONG_LENGTH ? Long.BYTES : Short.BYTES;
        long extended = number(2, lengthBytes);
        check(
                extended < 0 || extended >= (length == LONG_LENGTH ? 0x10000 : SHORT_LENGTH),
                "a length is not in its shortest form");
        check(extended >= 0, "a length has its highest bit set");
        return extended;
    }

    private long number(int index, int bytes) {
        long number = 0;
        for (int i = 0; i < bytes; i++) {
            number = number << Byte.SIZE | (head[index + i] & 0xff);
        }
        return number;
    }

    private static void check(boolean condition, String detail) {
        if (!condition) {
            throw new ProtocolException(CloseCode.PROTOCOL_ERROR, detail);
        }
    }

    private void readPayload(ByteBuf in) {
        int count = Math.min(payloadBytes - arrivedBytes, in.readableBytes());
        ByteBuf target = isControl() ? control(count) : message(count);
        unmask(in, target, count);
        arrivedBytes += count;
        if (arrivedBytes == payloadBytes) {
            inPayload = false;
            endFrame();
        }
    }

    private ByteBuf control(int count) {
        if (control == null) {
            control = allocator.buffer(payloadBytes, MAX_CONTROL_BYTES);
        }
        return control.ensureWritable(count);
    }

    private ByteBuf message(int count) {
        if (message == null) {
            message = allocator.directBuffer(Math.max(count, Math.min(payloadBytes, FIRST_PART_BYTES)));
        }
        int needed = message.readableBytes() + count;
        if (needed > message.capacity()) {
            int complete = message.readableBytes() + payloadBytes - arrivedBytes;
            message.capacity(Math.max(needed, Math.min(2 * message.capacity(), complete)));
        }
        return message;
    }

    private void unmask(ByteBuf in, ByteBuf target, int count) {
        int index = in.readerIndex();
        int end = index + count;
        int shift = arrivedBytes % Integer.BYTES * Byte.SIZE;
        int turned = Integer.rotateLeft(mask, shift);
        long mask8 = (turned & 0xffffffffL) << Integer.SIZE | (turned & 0xffffffffL);
        for (; index <= end - Long.BYTES; index += Long.BYTES) {
            target.writeLong(in.getLong(index) ^ mask8);
        }
        for (; index < end; index++) {
            target.writeByte(in.getByte(index) ^ (turned >>> (Integer.SIZE - Byte.SIZE)));
            turned = Integer.rotateLeft(turned, Byte.SIZE);
        }
        in.readerIndex(end);
    }

    private void endFrame() {
        if (isControl()) {
            ByteBuf payload = control;
            control = null;
            switch (opcode) {
                case WebSocketFrames.PING -> listener.onPing(payload);
                case WebSocketFrames.PONG -> {
                    payload.release();
                    listener.onPong();
                }
                default -> listener.onClose(payload);
            }
        } else if (last) {
            ByteBuf payload = message;
            message = null;
            inMessage = false;
            listener.onMessage(text, payload);
        }
    }

    /** Drops what has not arrived completely. */
    @Override
    public void close() {
        if (message != null) {
            message.release();
            message = null;
        }
        if (control != null) {
            control.release();
            control = null;
        }
    }
}
