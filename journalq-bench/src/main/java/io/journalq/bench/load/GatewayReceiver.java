package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.common.record.BatchReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** Receives all messages of a topic from the HTTP gateway. It gives credit as it receives. */
final class GatewayReceiver extends MessageReceiver {
    private static final int CREDIT = 200_000;

    private final boolean batches;
    private final WebSocketFrame head = new WebSocketFrame();
    private byte[] frame = new byte[BUFFER_BYTES];
    private long sinceCredit;

    /**
     * Subscribes to a topic from its end.
     *
     * @param security how to connect
     */
    GatewayReceiver(
            InetSocketAddress address,
            ConnectionSecurity security,
            String topic,
            boolean batches,
            CheckedMessages messages)
            throws IOException {
        super(
                address,
                security,
                WebSocketFrame.upgrade(
                        "/v1/ws", "Sec-WebSocket-Protocol: journalq." + (batches ? "batch" : "json") + ".v1\r\n"),
                messages);
        this.batches = batches;
        sendText("{\"type\":\"subscribe\",\"topic\":\"" + topic + "\",\"credit\":" + CREDIT + "}");
        int size = readFrame();
        String response = new String(frame, 0, size, StandardCharsets.UTF_8);
        if (!response.contains("\"subscribed\"")) {
            throw new BenchException("the gateway refused the subscription: " + response, "see the broker's log");
        }
    }

    private void sendText(String text) throws IOException {
        send(WebSocketFrame.of(WebSocketFrame.TEXT, text));
    }

    @Override
    int receive() throws IOException {
        if (sinceCredit > CREDIT / 2) {
            sendText("{\"type\":\"credit\",\"records\":" + sinceCredit + "}");
            sinceCredit = 0;
        }
        int size = readFrame();
        int count = batches ? readBatches(size) : readJson(size);
        sinceCredit += count;
        return count;
    }

    /** Reads a frame that is no ping. Returns its size. */
    private int readFrame() throws IOException {
        while (true) {
            while (!head.take(in.readUnsignedByte())) {
                // Reads the whole head.
            }
            int length = Math.toIntExact(head.length());
            if (frame.length < length) {
                frame = new byte[2 * length];
            }
            in.readFully(frame, 0, length);
            if (head.type() == WebSocketFrame.TEXT || head.type() == WebSocketFrame.BINARY) {
                return length;
            }
            if (head.type() != WebSocketFrame.PING) {
                throw new IOException("a frame of opcode " + head.type() + ": "
                        + new String(frame, 0, length, StandardCharsets.UTF_8));
            }
        }
    }

    private int readJson(int size) throws IOException {
        int count = 0;
        for (int index = JsonValues.next(frame, 0, size); index >= 0; index = JsonValues.next(frame, index, size)) {
            messages.arrived(frame, index, size);
            index += messages.messageBytes();
            count++;
        }
        if (count == 0) {
            throw new IOException("unexpected: " + new String(frame, 0, size, StandardCharsets.UTF_8));
        }
        return count;
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
                    messages.arrived(frame, value.arrayOffset() + value.readerIndex(), size);
                    count++;
                }
            }
        }
        return count;
    }
}
