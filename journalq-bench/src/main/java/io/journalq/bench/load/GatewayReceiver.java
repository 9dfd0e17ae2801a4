package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.common.record.BatchReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32C;

/**
 * Receives all messages of a topic over one WebSocket, and checks the number and the checksum of each. It gives credit as
 * it receives. Runs in its own thread.
 */
final class GatewayReceiver implements Runnable, AutoCloseable {
    private static final int BUFFER_BYTES = 256 * 1024;
    private static final int CREDIT = 200_000;
    private static final byte[] VALUE = "\"value\":\"".getBytes(StandardCharsets.US_ASCII);
    private static final int LAST_TEXT = 0x81;
    private static final int LAST_BINARY = 0x82;
    private static final int PING = 0x89;
    private static final int MAX_TINY = 125;
    private static final int SHORT_LENGTH = 126;

    private final Socket socket;
    private final DataInputStream in;
    private final boolean batches;
    private final int messageBytes;
    private final int[] counts;
    private final CRC32C checksum = new CRC32C();
    private byte[] frame = new byte[BUFFER_BYTES];
    private long sinceCredit;
    private volatile long received;
    private volatile String failure;
    private volatile boolean closed;

    /**
     * Subscribes to a topic from its end.
     *
     * @param security how to connect
     * @param messageBytes size of each message
     * @param numbers the messages have the numbers below this
     */
    GatewayReceiver(
            InetSocketAddress address,
            ConnectionSecurity security,
            String topic,
            boolean batches,
            int messageBytes,
            int numbers)
            throws IOException {
        this.batches = batches;
        this.messageBytes = messageBytes;
        this.counts = new int[numbers];
        Socket plain = new Socket();
        plain.setReceiveBufferSize(4 * BUFFER_BYTES);
        plain.connect(address);
        plain.setTcpNoDelay(true);
        this.socket = security.authorities() == null
                ? plain
                : security.sockets()
                        .getSocketFactory()
                        .createSocket(plain, address.getHostString(), address.getPort(), true);
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES));
        socket.getOutputStream()
                .write(("GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                                + "Sec-WebSocket-Protocol: journalq." + (batches ? "batch" : "json") + ".v1\r\n\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
        for (int ends = 0; ends < 4; ) {
            int next = in.readUnsignedByte();
            ends = next == (ends % 2 == 0 ? '\r' : '\n') ? ends + 1 : 0;
        }
        send("{\"type\":\"subscribe\",\"topic\":\"" + topic + "\",\"credit\":" + CREDIT + "}");
        int size = readFrame();
        String response = new String(frame, 0, size, StandardCharsets.UTF_8);
        if (!response.contains("\"subscribed\"")) {
            throw new BenchException("the gateway refused the subscription: " + response, "see the broker's log");
        }
    }

    /** Forgets what was received. Only while nothing is sent. */
    void reset() {
        Arrays.fill(counts, 0);
        received = 0;
    }

    long received() {
        return received;
    }

    /** Waits for a number of messages. */
    void await(long count, long timeoutNs) {
        long endNs = System.nanoTime() + timeoutNs;
        while (received < count) {
            if (failure != null) {
                throw new BenchException("the receiver failed: " + failure, "see the broker's log");
            }
            if (System.nanoTime() - endNs > 0) {
                throw new BenchException(
                        "only " + received + " of " + count + " messages arrived", "see the broker's log");
            }
            LockSupport.parkNanos(200_000);
        }
    }

    /** Checks that each number arrived as often as it was sent. Only while nothing is sent. */
    void check(int[] expected) {
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] != expected[i]) {
                throw new BenchException(
                        "message " + i + " arrived " + counts[i] + " times instead of " + expected[i],
                        "report this defect");
            }
        }
    }

    @Override
    public void run() {
        try {
            while (true) {
                int size = readFrame();
                long before = received;
                long now = before + (batches ? readBatches(size) : readJson(size));
                received = now;
                sinceCredit += now - before;
                if (sinceCredit > CREDIT / 2) {
                    send("{\"type\":\"credit\",\"records\":" + sinceCredit + "}");
                    sinceCredit = 0;
                }
            }
        } catch (EOFException ended) {
            failure = closed ? null : "the gateway closed the connection";
        } catch (IOException | RuntimeException failed) {
            failure = closed ? null : failed.toString();
        }
    }

    /** Reads a frame that is no ping. Returns its size. */
    private int readFrame() throws IOException {
        while (true) {
            int opcode = in.readUnsignedByte();
            int length = in.readUnsignedByte();
            if (length == SHORT_LENGTH) {
                length = in.readUnsignedShort();
            } else if (length > SHORT_LENGTH) {
                length = (int) in.readLong();
            }
            if (frame.length < length) {
                frame = new byte[2 * length];
            }
            in.readFully(frame, 0, length);
            if (opcode == LAST_TEXT || opcode == LAST_BINARY) {
                return length;
            }
            if (opcode != PING) {
                throw new IOException(
                        "a frame of opcode " + opcode + ": " + new String(frame, 0, length, StandardCharsets.UTF_8));
            }
        }
    }

    private int readJson(int size) throws IOException {
        int count = 0;
        int index = 0;
        while (true) {
            index = indexOf(VALUE, index, size);
            if (index < 0) {
                break;
            }
            index += VALUE.length;
            checkMessage(frame, index, size);
            index += messageBytes;
            count++;
        }
        if (count == 0) {
            throw new IOException("unexpected: " + new String(frame, 0, size, StandardCharsets.UTF_8));
        }
        return count;
    }

    private int indexOf(byte[] text, int from, int end) {
        for (int i = from; i <= end - text.length; i++) {
            if (frame[i] == text[0] && Arrays.equals(frame, i, i + text.length, text, 0, text.length)) {
                return i;
            }
        }
        return -1;
    }

    private int readBatches(int size) throws IOException {
        int start = 0;
        while (frame[start] != '\n') {
            start++;
        }
        int count = 0;
        ByteBuf all = Unpooled.wrappedBuffer(frame, start + 1, size - start - 1);
        try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT)) {
            reader.reset(all);
            while (reader.nextBatch()) {
                while (reader.next()) {
                    ByteBuf value = reader.value();
                    checkMessage(frame, value.arrayOffset() + value.readerIndex(), size);
                    count++;
                }
            }
        }
        return count;
    }

    private void checkMessage(byte[] bytes, int index, int end) throws IOException {
        if (index + messageBytes > end) {
            throw new IOException("a message is too short");
        }
        int number = GatewayLoad.hex(bytes, index);
        checksum.reset();
        checksum.update(bytes, index + GatewayLoad.HEAD_BYTES, messageBytes - GatewayLoad.HEAD_BYTES);
        if (GatewayLoad.hex(bytes, index + Long.BYTES) != ((int) checksum.getValue() ^ number)) {
            throw new IOException("message " + number + " has a wrong checksum");
        }
        counts[number]++;
    }

    private void send(String text) throws IOException {
        byte[] payload = text.getBytes(StandardCharsets.US_ASCII);
        ByteBuffer message = ByteBuffer.allocate(payload.length + 8).put((byte) LAST_TEXT);
        if (payload.length > MAX_TINY) {
            message.put((byte) (0x80 | SHORT_LENGTH)).putShort((short) payload.length);
        } else {
            message.put((byte) (0x80 | payload.length));
        }
        message.putInt(0).put(payload); // a mask of zeros
        socket.getOutputStream().write(message.array(), 0, message.position());
    }

    @Override
    public void close() throws IOException {
        closed = true;
        socket.close();
    }
}
