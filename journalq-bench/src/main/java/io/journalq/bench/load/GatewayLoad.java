package io.journalq.bench.load;

import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;

/**
 * The load of {@code journalq-bench gateway}: requests with many messages each, which were made before the measurement,
 * and one WebSocket that receives all messages and checks their numbers and checksums. One thread posts, another receives.
 */
public final class GatewayLoad {
    /** Number and checksum at the beginning of each message, in hexadecimal digits. */
    static final int HEAD_BYTES = 2 * Long.BYTES;

    private static final int MAX_BODIES = 8;
    private static final int BATCH_BYTES = 512 * 1024;
    private static final String BATCH_TYPE = "application/vnd.journalq.batch";
    private static final String JSON_TYPE = "application/json";
    private static final String BYTES_TYPE = "application/octet-stream";
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] LETTERS =
            "abcdefghijklmnopqrstuvwxyz 0123456789,.:-".getBytes(StandardCharsets.US_ASCII);

    private final InetSocketAddress address;
    private final ConnectionSecurity security;
    private final Shape shape;
    private final List<ByteBuffer> requests = new ArrayList<>();

    /** How messages travel. */
    public enum Format {
        /** JSON documents in, JSON over the WebSocket. */
        JSON,
        /** Record batches in both directions. */
        BATCH,
        /** One message in each request, and no receiver. */
        SINGLE
    }

    /**
     * The shape of the load.
     *
     * @param messageBytes size of a message
     * @param messages messages in a request
     * @param inFlight requests in flight, each on its connection
     */
    public record Shape(String topic, int partitions, Format format, int messageBytes, int messages, int inFlight) {}

    /**
     * The result of a repetition.
     *
     * @param seconds from the first request until the last message was received; with {@link Format#SINGLE}, until the
     *     last response
     */
    public record Result(long messages, double seconds, ResourceUse use) {
        public double messagesPerSecond() {
            return messages / seconds;
        }
    }

    /**
     * Makes the bodies.
     *
     * @param security how to connect
     */
    public GatewayLoad(InetSocketAddress address, ConnectionSecurity security, Shape shape) {
        this.address = address;
        this.security = security;
        this.shape = shape;
        int bodies = shape.format() == Format.SINGLE ? 1 : MAX_BODIES;
        for (int body = 0; body < bodies; body++) {
            requests.add(request(body));
        }
    }

    private ByteBuffer request(int body) {
        int first = body * shape.messages();
        return switch (shape.format()) {
            case SINGLE -> GatewayPosts.request(shape.topic(), BYTES_TYPE, "", message(first));
            case JSON -> GatewayPosts.request(shape.topic(), JSON_TYPE, "", json(first));
            case BATCH ->
                GatewayPosts.request(
                        shape.topic(),
                        BATCH_TYPE,
                        "JQ-Partition: " + body % shape.partitions() + "\r\n",
                        batches(first));
        };
    }

    private byte[] json(int first) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes("{\"records\":[".getBytes(StandardCharsets.US_ASCII));
        for (int i = 0; i < shape.messages(); i++) {
            out.writeBytes((i == 0 ? "{\"value\":\"" : ",{\"value\":\"").getBytes(StandardCharsets.US_ASCII));
            out.writeBytes(message(first + i));
            out.writeBytes("\"}".getBytes(StandardCharsets.US_ASCII));
        }
        out.writeBytes("]}".getBytes(StandardCharsets.US_ASCII));
        return out.toByteArray();
    }

    private byte[] batches(int first) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            for (int i = 0; i < shape.messages(); i++) {
                builder.append(
                        System.currentTimeMillis(),
                        (ByteBuf) null,
                        Unpooled.wrappedBuffer(message(first + i)),
                        List.of());
                if (builder.sizeBytes() > BATCH_BYTES || i == shape.messages() - 1) {
                    ByteBuf batch = builder.build();
                    out.writeBytes(ByteBufUtil.getBytes(batch));
                    batch.release();
                }
            }
        }
        return out.toByteArray();
    }

    private byte[] message(int number) {
        byte[] message = new byte[shape.messageBytes()];
        SplittableRandom random = new SplittableRandom(number);
        for (int i = HEAD_BYTES; i < message.length; i++) {
            message[i] = LETTERS[random.nextInt(LETTERS.length)];
        }
        CRC32C checksum = new CRC32C();
        checksum.update(message, HEAD_BYTES, message.length - HEAD_BYTES);
        putHex(message, 0, number);
        putHex(message, Long.BYTES, (int) checksum.getValue() ^ number);
        return message;
    }

    private static void putHex(byte[] message, int index, int number) {
        for (int digit = 0; digit < Long.BYTES; digit++) {
            message[index + digit] = HEX[number >>> (28 - 4 * digit) & 0xf];
        }
    }

    /** The number at an index, in 8 hexadecimal digits. */
    static int hex(byte[] message, int index) {
        int number = 0;
        for (int digit = 0; digit < Long.BYTES; digit++) {
            int each = message[index + digit];
            number = number << 4 | (each <= '9' ? each - '0' : each - 'a' + 10);
        }
        return number;
    }

    /**
     * Warms up, and measures.
     *
     * @param requestCount requests of the measurement, and of the warm-up
     */
    public Result run(long requestCount, long brokerPid, String metricsAddress) throws IOException {
        try (GatewayPosts posts = new GatewayPosts(address, security.loadContext(), requests, shape.inFlight())) {
            if (shape.format() == Format.SINGLE) {
                posts.post(requestCount);
                ResourceUse.Meter meter = ResourceUse.start(brokerPid, metricsAddress);
                long start = System.nanoTime();
                posts.post(requestCount);
                double seconds = (System.nanoTime() - start) / 1e9;
                return new Result(requestCount, seconds, meter.stop());
            }
            try (GatewayReceiver receiver = new GatewayReceiver(
                    address,
                    security,
                    shape.topic(),
                    shape.format() == Format.BATCH,
                    shape.messageBytes(),
                    requests.size() * shape.messages())) {
                Thread thread = new Thread(receiver, "gateway-receiver");
                thread.setDaemon(true);
                thread.start();
                measure(posts, receiver, requestCount, 0, null);
                receiver.reset();
                return measure(posts, receiver, requestCount, brokerPid, metricsAddress);
            }
        }
    }

    private Result measure(
            GatewayPosts posts, GatewayReceiver receiver, long requestCount, long brokerPid, String metricsAddress)
            throws IOException {
        long count = requestCount * shape.messages();
        long firstPost = posts.posted();
        ResourceUse.Meter meter = ResourceUse.start(brokerPid, metricsAddress);
        long start = System.nanoTime();
        posts.post(requestCount);
        receiver.await(count, TimeUnit.SECONDS.toNanos(60));
        double seconds = (System.nanoTime() - start) / 1e9;
        ResourceUse use = meter.stop();
        int[] expected = new int[requests.size() * shape.messages()];
        for (long post = firstPost; post < firstPost + requestCount; post++) {
            int first = (int) (post % requests.size()) * shape.messages();
            for (int i = 0; i < shape.messages(); i++) {
                expected[first + i]++;
            }
        }
        receiver.check(expected);
        return new Result(count, seconds, use);
    }
}
