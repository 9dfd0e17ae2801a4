package io.journalq.bench.jmh;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceRequest.PartitionProduceData;
import io.journalq.common.protocol.message.ProduceRequest.TopicProduceData;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Time to decode the frame of a Produce request including its header, and its body with the classes of kafka-clients. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 5, time = 1)
public class ProtocolBenchmark {
    private static final short VERSION = 9;
    private static final short ACKS_LEADER = 1;
    private static final int TIMEOUT_MS = 30_000;
    private static final int MESSAGE_SIZE_BYTES = 1024;

    /** Number of partitions in the request, each with one message of 1 KiB. */
    @Param({"1", "100"})
    public int partitions;

    private final ByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;
    private ByteBuf frame;
    private ByteBuffer body;

    @Setup(Level.Trial)
    public void setUp() {
        List<PartitionProduceData> data = new ArrayList<>();
        try (BatchBuilder builder = new BatchBuilder(allocator, CompressionCodec.NONE)) {
            for (int partition = 0; partition < partitions; partition++) {
                builder.append(1, null, new byte[MESSAGE_SIZE_BYTES], List.of());
                data.add(new PartitionProduceData().setIndex(partition).setRecords(RecordsData.of(builder.build())));
            }
        }
        ProduceRequest request = new ProduceRequest()
                .setAcks(ACKS_LEADER)
                .setTimeoutMs(TIMEOUT_MS)
                .setTopicData(List.of(new TopicProduceData().setName("topic").setPartitionData(data)));
        frame = allocator.directBuffer();
        for (ReferenceCounted part : Frames.request(allocator, 1, "client", request, VERSION)) {
            frame.writeBytes((ByteBuf) part);
            part.release();
        }
        frame.skipBytes(Integer.BYTES);
        MessageReader reader = new MessageReader(frame.duplicate());
        Frames.readRequestHeader(reader);
        int bodyAt = frame.writerIndex() - reader.remaining();
        body = frame.nioBuffer(bodyAt, frame.writerIndex() - bodyAt);
    }

    @TearDown(Level.Trial)
    public void tearDown() {
        frame.release();
    }

    @Benchmark
    public Object frame() {
        MessageReader reader = new MessageReader(frame.duplicate());
        Frames.readRequestHeader(reader);
        return ApiMessages.readRequest(ApiKey.PRODUCE, reader, VERSION);
    }

    @Benchmark
    public Object bodyByKafkaClients() {
        return new ProduceRequestData(new ByteBufferAccessor(body.duplicate()), VERSION);
    }
}
