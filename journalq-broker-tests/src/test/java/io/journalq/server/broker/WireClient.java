package io.journalq.server.broker;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.protocol.message.ResponseHeader;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.List;

/** A client on one socket that sends exactly the given requests. */
public final class WireClient implements AutoCloseable {
    private static final int TIMEOUT_MS = 60_000;

    final Socket socket;
    public final DataOutputStream out;
    final DataInputStream in;
    private int correlationId;

    public WireClient(int port) throws IOException {
        this(new Socket(InetAddress.getLoopbackAddress(), port));
    }

    /** A client on a connected socket, which it closes. */
    public WireClient(Socket connected) throws IOException {
        socket = connected;
        socket.setSoTimeout(TIMEOUT_MS);
        socket.setTcpNoDelay(true);
        out = new DataOutputStream(socket.getOutputStream());
        in = new DataInputStream(socket.getInputStream());
    }

    /** Sends a request; returns its correlation id. */
    public int send(ApiMessage request, int version) throws IOException {
        correlationId++;
        out.write(frame(correlationId, request, version));
        return correlationId;
    }

    /** The next response, which must have the correlation id {@code expectedId}. */
    public <T extends ApiMessage> T receive(Class<T> type, ApiKey key, int version, int expectedId) throws IOException {
        ByteBuf frame = Unpooled.wrappedBuffer(receiveFrame());
        MessageReader reader = new MessageReader(frame);
        ResponseHeader header = Frames.readResponseHeader(reader, key, (short) version);
        if (header.correlationId() != expectedId) {
            throw new IOException("response " + header.correlationId() + " where " + expectedId + " was expected");
        }
        T response = type.cast(ApiMessages.readResponse(key, reader, (short) version));
        reader.expectEnd();
        return response;
    }

    public <T extends ApiMessage> T call(Class<T> type, ApiMessage request, int version) throws IOException {
        return receive(type, request.apiKey(), version, send(request, version));
    }

    public byte[] receiveFrame() throws IOException {
        byte[] frame = new byte[in.readInt()];
        in.readFully(frame);
        return frame;
    }

    /** The complete frame of a request. */
    public static byte[] frame(int correlationId, ApiMessage request, int version) {
        List<ReferenceCounted> parts = Frames.request(
                UnpooledByteBufAllocator.DEFAULT, correlationId, "wire-client", request, (short) version);
        ByteBuf all = Unpooled.wrappedBuffer(parts.toArray(new ByteBuf[0]));
        byte[] bytes = new byte[all.readableBytes()];
        all.readBytes(bytes);
        all.release();
        return bytes;
    }

    /** Produces one batch to one partition of a topic. */
    public ProduceResponse.PartitionProduceResponse produce(String topic, int partition, ByteBuf batch)
            throws IOException {
        ProduceResponse response =
                call(ProduceResponse.class, produceRequest(topic, partition, batch), ApiKeyVersions.PRODUCE);
        return response.responses().get(0).partitionResponses().get(0);
    }

    public static ProduceRequest produceRequest(String topic, int partition, ByteBuf batch) {
        return new ProduceRequest()
                .setAcks((short) -1)
                .setTimeoutMs(TIMEOUT_MS)
                .setTopicData(List.of(new ProduceRequest.TopicProduceData()
                        .setName(topic)
                        .setPartitionData(List.of(new ProduceRequest.PartitionProduceData()
                                .setIndex(partition)
                                .setRecords(RecordsData.of(batch))))));
    }

    /** An uncompressed batch of {@code count} records with the same value. */
    public static ByteBuf batch(int count, byte[] value) {
        return batch(count, value, -1, (short) -1, -1);
    }

    /** The same with a timestamp. */
    public static ByteBuf batchAt(long timestampMs, int count, byte[] value) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            for (int i = 0; i < count; i++) {
                builder.append(timestampMs, (byte[]) null, value, List.of());
            }
            return builder.build();
        }
    }

    /** The same from an idempotent producer. */
    public static ByteBuf batch(int count, byte[] value, long producerId, short epoch, int baseSequence) {
        return batch(count, value, producerId, epoch, baseSequence, false);
    }

    /** The same as a part of the producer's transaction. */
    public static ByteBuf transactionalBatch(int count, byte[] value, long producerId, short epoch, int baseSequence) {
        return batch(count, value, producerId, epoch, baseSequence, true);
    }

    private static ByteBuf batch(
            int count, byte[] value, long producerId, short epoch, int baseSequence, boolean transactional) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.setProducerState(producerId, epoch, baseSequence, transactional);
            for (int i = 0; i < count; i++) {
                builder.append(System.currentTimeMillis(), (byte[]) null, value, List.of());
            }
            return builder.build();
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    /** The default versions of requests, for tests that are not about versions. */
    static final class ApiKeyVersions {
        static final int PRODUCE = 12;

        private ApiKeyVersions() {}
    }
}
