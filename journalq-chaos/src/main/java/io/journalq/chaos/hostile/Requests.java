package io.journalq.chaos.hostile;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.protocol.message.SaslAuthenticateRequest;
import io.journalq.common.protocol.message.SaslHandshakeRequest;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Encodes requests as whole frames, which can be sent any number of times. Stateless. */
public final class Requests {
    public static final String HEALTHY_TOPIC = "healthy";
    public static final String HOSTILE_TOPIC = "hostile";
    static final int TIMEOUT_MS = 30_000;

    private static final short PRODUCE_VERSION = 9;
    private static final short FETCH_VERSION = 11;
    private static final short METADATA_VERSION = 9;
    private static final short SASL_HANDSHAKE_VERSION = 1;
    private static final short SASL_AUTHENTICATE_VERSION = 2;
    private static final String MECHANISM = "SCRAM-SHA-256";

    /** In Base64, without the padding. */
    private static final int PROOF_CHARACTERS = 43;

    /** The newest version in which one request creates a member. Later versions return an id first. */
    private static final short JOIN_GROUP_VERSION = 3;

    private Requests() {}

    /** A Produce request with one record of {@code valueBytes} bytes. */
    public static byte[] produce(String topic, CompressionCodec codec, int valueBytes) {
        return frame(
                new ProduceRequest()
                        .setAcks((short) -1)
                        .setTimeoutMs(TIMEOUT_MS)
                        .setTopicData(List.of(new ProduceRequest.TopicProduceData()
                                .setName(topic)
                                .setPartitionData(List.of(new ProduceRequest.PartitionProduceData()
                                        .setIndex(0)
                                        .setRecords(RecordsData.of(batch(codec, valueBytes))))))),
                PRODUCE_VERSION);
    }

    /**
     * Reads the response to {@link #produce}.
     *
     * @throws IOException if the broker has refused the record, or closed the connection
     */
    public static void readProduced(DataInputStream in) throws IOException {
        byte[] response = new byte[in.readInt()];
        in.readFully(response);
        MessageReader reader = new MessageReader(Unpooled.wrappedBuffer(response));
        Frames.readResponseHeader(reader, ApiKey.PRODUCE, PRODUCE_VERSION);
        ErrorCode error = ErrorCode.of(ProduceResponse.read(reader, PRODUCE_VERSION)
                .responses()
                .get(0)
                .partitionResponses()
                .get(0)
                .errorCode());
        if (error != ErrorCode.NONE) {
            throw new IOException("the broker has refused a message: " + error);
        }
    }

    private static ByteBuf batch(CompressionCodec codec, int valueBytes) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, codec)) {
            builder.append(System.currentTimeMillis(), (byte[]) null, new byte[valueBytes], List.of());
            return builder.build();
        }
    }

    /** A Fetch request from the beginning of a topic, with the largest limits. */
    static byte[] fetchFromTheBeginning(String topic) {
        return frame(
                new FetchRequest()
                        .setReplicaId(-1)
                        .setMaxWaitMs(0)
                        .setMinBytes(1)
                        .setMaxBytes(50 << 20)
                        .setSessionEpoch(-1)
                        .setTopics(List.of(new FetchRequest.FetchTopic()
                                .setTopic(topic)
                                .setPartitions(List.of(new FetchRequest.FetchPartition()
                                        .setPartition(0)
                                        .setFetchOffset(0)
                                        .setCurrentLeaderEpoch(-1)
                                        .setLogStartOffset(-1)
                                        .setPartitionMaxBytes(20 << 20)))))
                        .setRackId(""),
                FETCH_VERSION);
    }

    static byte[] metadata() {
        return frame(new MetadataRequest().setTopics(null), METADATA_VERSION);
    }

    /** The choice of a mechanism, and a message that is not one of it. */
    static byte[] disorderedLogin() {
        byte[] choice = frame(new SaslHandshakeRequest().setMechanism(MECHANISM), SASL_HANDSHAKE_VERSION);
        byte[] message = authenticate("c=biws,r=none,p=none");
        byte[] both = Arrays.copyOf(choice, choice.length + message.length);
        System.arraycopy(message, 0, both, choice.length, message.length);
        return both;
    }

    private static byte[] authenticate(String message) {
        return frame(
                new SaslAuthenticateRequest()
                        .setAuthBytes(Unpooled.wrappedBuffer(message.getBytes(StandardCharsets.US_ASCII))),
                SASL_AUTHENTICATE_VERSION);
    }

    /** Logs in by SCRAM with a proof that is wrong, and reads the refusal. */
    static void guess(OutputStream out, DataInputStream in) throws IOException {
        out.write(frame(new SaslHandshakeRequest().setMechanism(MECHANISM), SASL_HANDSHAKE_VERSION));
        in.readNBytes(in.readInt());
        out.write(authenticate("n,,n=admin,r=guess"));
        String challenge = new String(in.readNBytes(in.readInt()), StandardCharsets.ISO_8859_1);
        int nonce = challenge.indexOf("r=guess");
        if (nonce < 0) {
            throw new IOException("the broker has refused the login");
        }
        String proof = "A".repeat(PROOF_CHARACTERS) + "=";
        out.write(authenticate("c=biws," + challenge.substring(nonce, challenge.indexOf(',', nonce)) + ",p=" + proof));
        in.readNBytes(in.readInt());
    }

    /** A Metadata request that creates the topics that do not exist. */
    static byte[] createByMetadata(List<String> names) {
        return frame(
                new MetadataRequest()
                        .setTopics(names.stream()
                                .map(name -> new MetadataRequest.MetadataRequestTopic().setName(name))
                                .toList())
                        .setAllowAutoTopicCreation(true),
                METADATA_VERSION);
    }

    /** A JoinGroup request of a new member. */
    static byte[] joinGroup(String groupId, int metadataBytes) {
        return frame(
                new JoinGroupRequest()
                        .setGroupId(groupId)
                        .setSessionTimeoutMs(TIMEOUT_MS)
                        .setRebalanceTimeoutMs(TIMEOUT_MS)
                        .setMemberId("")
                        .setProtocolType("consumer")
                        .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                .setName("range")
                                .setMetadata(Unpooled.wrappedBuffer(new byte[metadataBytes])))),
                JOIN_GROUP_VERSION);
    }

    /** A Produce request with {@code sizeBytes} bytes that are not a valid batch. */
    static byte[] produceBytes(String topic, int sizeBytes) {
        return frame(
                new ProduceRequest()
                        .setAcks((short) -1)
                        .setTimeoutMs(TIMEOUT_MS)
                        .setTopicData(List.of(new ProduceRequest.TopicProduceData()
                                .setName(topic)
                                .setPartitionData(List.of(new ProduceRequest.PartitionProduceData()
                                        .setIndex(0)
                                        .setRecords(RecordsData.of(Unpooled.wrappedBuffer(new byte[sizeBytes]))))))),
                PRODUCE_VERSION);
    }

    /** A Fetch request for the partitions 0 to {@code count - 1}, whether or not they exist. */
    static byte[] fetchPartitions(String topic, int count) {
        return frame(
                new FetchRequest()
                        .setReplicaId(-1)
                        .setMaxWaitMs(0)
                        .setMinBytes(0)
                        .setMaxBytes(50 << 20)
                        .setSessionEpoch(-1)
                        .setTopics(List.of(new FetchRequest.FetchTopic()
                                .setTopic(topic)
                                .setPartitions(IntStream.range(0, count)
                                        .mapToObj(partition -> new FetchRequest.FetchPartition()
                                                .setPartition(partition)
                                                .setFetchOffset(0)
                                                .setCurrentLeaderEpoch(-1)
                                                .setLogStartOffset(-1)
                                                .setPartitionMaxBytes(1 << 20))
                                        .toList())))
                        .setRackId(""),
                FETCH_VERSION);
    }

    private static byte[] frame(ApiMessage request, short version) {
        List<ReferenceCounted> parts = Frames.request(UnpooledByteBufAllocator.DEFAULT, 1, "hostile", request, version);
        ByteBuf all = Unpooled.wrappedBuffer(parts.toArray(new ByteBuf[0]));
        byte[] bytes = new byte[all.readableBytes()];
        all.readBytes(bytes);
        all.release();
        return bytes;
    }
}
