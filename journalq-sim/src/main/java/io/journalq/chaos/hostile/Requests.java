package io.journalq.chaos.hostile;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.Frames;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.util.List;

/** Whole frames, as bytes that may be sent again and again. Stateless. */
public final class Requests {
    public static final String HEALTHY_TOPIC = "healthy";
    public static final String HOSTILE_TOPIC = "hostile";
    static final int TIMEOUT_MS = 30_000;

    private static final short PRODUCE_VERSION = 9;
    private static final short FETCH_VERSION = 11;
    private static final short METADATA_VERSION = 9;

    private Requests() {}

    /** One record of so many bytes. */
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

    private static ByteBuf batch(CompressionCodec codec, int valueBytes) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, codec)) {
            builder.append(System.currentTimeMillis(), (byte[]) null, new byte[valueBytes], List.of());
            return builder.build();
        }
    }

    /** Everything from the beginning of a topic, as much as there may be. */
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

    private static byte[] frame(ApiMessage request, short version) {
        List<ReferenceCounted> parts = Frames.request(UnpooledByteBufAllocator.DEFAULT, 1, "hostile", request, version);
        ByteBuf all = Unpooled.wrappedBuffer(parts.toArray(new ByteBuf[0]));
        byte[] bytes = new byte[all.readableBytes()];
        all.readBytes(bytes);
        all.release();
        return bytes;
    }
}
