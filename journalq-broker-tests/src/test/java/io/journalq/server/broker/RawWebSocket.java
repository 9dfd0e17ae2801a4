package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A WebSocket over a raw socket, which can also send what no client library would. */
final class RawWebSocket implements AutoCloseable {
    static final String JSON = "journalq.json.v1";
    static final String BATCH = "journalq.batch.v1";

    static final int CONTINUATION = 0x00;
    static final int TEXT = 0x01;
    static final int BINARY = 0x02;
    static final int CLOSE = 0x08;
    static final int PING = 0x09;
    static final int PONG = 0x0a;
    static final int LAST = 0x80;

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final byte[] MASK = {1, (byte) 0xf2, 3, 4};

    private final Socket socket;
    private final DataInputStream in;

    /** What the broker has sent. */
    static final class Frame {
        private final int opcode;
        private final byte[] payload;

        Frame(int opcode, byte[] payload) {
            this.opcode = opcode;
            this.payload = payload;
        }

        int opcode() {
            return opcode;
        }

        int sizeBytes() {
            return payload.length;
        }

        String text() {
            return new String(payload, UTF_8);
        }

        JsonNode json() throws IOException {
            return MAPPER.readTree(payload);
        }

        int closeCode() {
            return ByteBuffer.wrap(payload).getShort();
        }

        /** The bytes behind the first line of a binary message. */
        byte[] batches() {
            for (int i = 0; i < payload.length; i++) {
                if (payload[i] == '\n') {
                    return Arrays.copyOfRange(payload, i + 1, payload.length);
                }
            }
            throw new AssertionError("no line");
        }
    }

    private RawWebSocket(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new DataInputStream(socket.getInputStream());
    }

    static RawWebSocket open(GatewayClient gateway, String protocol) throws IOException {
        return open(gateway.connect(), protocol);
    }

    static RawWebSocket open(Socket socket, String protocol) throws IOException {
        socket.setTcpNoDelay(true);
        socket.getOutputStream().write(handshake(protocol, "").getBytes(ISO_8859_1));
        String head = GatewayClient.readHead(socket);
        // The key and its proof are those of RFC 6455, section 1.3.
        if (!head.startsWith("HTTP/1.1 101 ") || !head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")) {
            throw new AssertionError(head);
        }
        return new RawWebSocket(socket);
    }

    static String handshake(String protocol, String more) {
        return "GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                + (protocol.isEmpty() ? "" : "Sec-WebSocket-Protocol: other, " + protocol + "\r\n") + more + "\r\n";
    }

    /** A masked frame. */
    static byte[] frame(int head, byte[] payload) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(head);
        if (payload.length < 126) {
            out.write(0x80 | payload.length);
        } else if (payload.length < 0x10000) {
            out.write(0x80 | 126);
            out.writeBytes(
                    ByteBuffer.allocate(2).putShort((short) payload.length).array());
        } else {
            out.write(0x80 | 127);
            out.writeBytes(ByteBuffer.allocate(8).putLong(payload.length).array());
        }
        out.writeBytes(MASK);
        for (int i = 0; i < payload.length; i++) {
            out.write(payload[i] ^ MASK[i % 4]);
        }
        return out.toByteArray();
    }

    void send(String json) throws IOException {
        write(frame(LAST | TEXT, json.getBytes(UTF_8)));
    }

    void write(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /** The next frame that is no ping. */
    Frame read() throws IOException {
        while (true) {
            int head = in.readUnsignedByte();
            int length = in.readUnsignedByte();
            if (length == 126) {
                length = in.readUnsignedShort();
            } else if (length == 127) {
                length = (int) in.readLong();
            }
            byte[] payload = new byte[length];
            in.readFully(payload);
            if (head != (LAST | PING)) {
                return new Frame(head & 0x0f, payload);
            }
        }
    }

    JsonNode message() throws IOException {
        return read().json();
    }

    /** The values of the next records. */
    List<String> values(int count) throws IOException {
        List<String> values = new ArrayList<>();
        while (values.size() < count) {
            JsonNode message = message();
            if (!message.path("type").asText().equals("records")) {
                throw new AssertionError(message);
            }
            message.get("records")
                    .forEach(record -> values.add(record.get("value").asText()));
        }
        return values;
    }

    /** Whether the broker has sent nothing for a time. */
    boolean isSilent(int timeMs) throws IOException {
        long endNanos = System.nanoTime() + timeMs * 1_000_000L;
        while (System.nanoTime() < endNanos) {
            if (in.available() > 0) {
                return false;
            }
            Thread.onSpinWait();
        }
        return true;
    }

    boolean hasData() {
        try {
            return in.available() > 0;
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }

    /** The code with which the broker closes. */
    int closeCode() throws IOException {
        while (true) {
            Frame frame = read();
            if (frame.opcode() == CLOSE) {
                return frame.closeCode();
            }
        }
    }

    boolean isEnded() throws IOException {
        try {
            return in.read() < 0;
        } catch (EOFException ended) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
