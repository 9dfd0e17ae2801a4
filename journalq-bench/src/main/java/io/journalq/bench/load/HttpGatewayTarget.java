package io.journalq.bench.load;

import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A topic of JournalQ, which the load reaches through the HTTP gateway. Immutable. */
public final class HttpGatewayTarget extends LoadTarget {
    private static final int MAX_BODIES = 8;
    private static final int BATCH_BYTES = 512 * 1024;
    private static final String BATCH_TYPE = "application/vnd.journalq.batch";
    private static final String JSON_TYPE = "application/json";
    private static final String BYTES_TYPE = "application/octet-stream";

    private final InetSocketAddress address;
    private final ConnectionSecurity security;
    private final String topic;
    private final int partitions;
    private final Format format;

    /** How messages travel. */
    public enum Format {
        /** JSON documents in, JSON over the WebSocket. */
        JSON,
        /** Record batches in both directions. */
        BATCH,
        /** One message in each request, and no receiver. */
        SINGLE
    }

    /** {@code address} is that of the gateway, {@code security} how to connect. */
    public HttpGatewayTarget(
            InetSocketAddress address, ConnectionSecurity security, String topic, int partitions, Format format) {
        this.address = address;
        this.security = security;
        this.topic = topic;
        this.partitions = partitions;
        this.format = format;
    }

    @Override
    InetSocketAddress address() {
        return address;
    }

    @Override
    SslContext tls() throws IOException {
        return security.loadContext();
    }

    @Override
    int requests(int connections) {
        return format == Format.SINGLE ? 1 : MAX_BODIES;
    }

    @Override
    ByteBuffer request(int number, CheckedMessages messages, int first, int count) {
        return switch (format) {
            case SINGLE -> request(BYTES_TYPE, "", messages.message(first));
            case JSON -> request(JSON_TYPE, "", json(messages, first, count));
            case BATCH ->
                request(BATCH_TYPE, "JQ-Partition: " + number % partitions + "\r\n", batches(messages, first, count));
        };
    }

    private ByteBuffer request(String type, String headers, byte[] body) {
        byte[] head = ("POST /v1/topics/" + topic + "/records HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + type
                        + "\r\n" + headers + "Content-Length: " + body.length + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocateDirect(head.length + body.length)
                .put(head)
                .put(body)
                .flip()
                .asReadOnlyBuffer();
    }

    private static byte[] json(CheckedMessages messages, int first, int count) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes("{\"records\":[".getBytes(StandardCharsets.US_ASCII));
        for (int i = 0; i < count; i++) {
            out.writeBytes((i == 0 ? "{\"value\":\"" : ",{\"value\":\"").getBytes(StandardCharsets.US_ASCII));
            out.writeBytes(messages.message(first + i));
            out.writeBytes("\"}".getBytes(StandardCharsets.US_ASCII));
        }
        out.writeBytes("]}".getBytes(StandardCharsets.US_ASCII));
        return out.toByteArray();
    }

    private static byte[] batches(CheckedMessages messages, int first, int count) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            for (int i = 0; i < count; i++) {
                builder.append(
                        System.currentTimeMillis(),
                        (ByteBuf) null,
                        Unpooled.wrappedBuffer(messages.message(first + i)),
                        List.of());
                if (builder.sizeBytes() > BATCH_BYTES || i == count - 1) {
                    ByteBuf batch = builder.build();
                    out.writeBytes(ByteBufUtil.getBytes(batch));
                    batch.release();
                }
            }
        }
        return out.toByteArray();
    }

    @Override
    Responses responses(int number) {
        return new HttpResponses();
    }

    @Override
    MessageReceiver receiver(CheckedMessages messages) throws IOException {
        return format == Format.SINGLE
                ? null
                : new GatewayReceiver(address, security, topic, format == Format.BATCH, messages);
    }
}
