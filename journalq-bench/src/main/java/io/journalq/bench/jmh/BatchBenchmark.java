package io.journalq.bench.jmh;

import io.journalq.common.check.Check;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.BatchRules;
import io.journalq.common.record.BatchValidator;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Crc32c;
import io.journalq.common.record.DecompressionRoom;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Time per message, for batches of 100 messages of 1 KiB that are in the cache. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
public class BatchBenchmark {
    private static final int BATCH = 100;
    private static final int VALUE_SIZE_BYTES = 1024;
    private static final int BATCH_SIZE_BYTES = 128 * 1024;
    private static final long NOW_MS = 1_700_000_000_000L;

    /** Content of the values: text compresses many times, random bytes do not compress. */
    @Param({"text", "random"})
    public String content;

    private final ByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;
    private byte[][] values;
    private BatchBuilder plainBuilder;
    private BatchBuilder lz4Builder;
    private BatchReader reader;
    private DecompressionRoom room;
    private BatchValidator validator;
    private ByteBuf plain;
    private ByteBuf lz4;
    private ByteBuf lz4Records;

    /** Generates the payloads and one batch of each kind. */
    @Setup(Level.Trial)
    public void setUp() {
        Random random = new Random(1);
        byte[] pattern = "The quick brown fox jumps over the lazy dog. ".getBytes(StandardCharsets.UTF_8);
        values = new byte[BATCH][VALUE_SIZE_BYTES];
        for (byte[] value : values) {
            random.nextBytes(value);
            if (content.equals("text")) {
                for (int i = 16; i < value.length; i++) {
                    value[i] = pattern[i % pattern.length];
                }
            }
        }
        plainBuilder = new BatchBuilder(allocator, CompressionCodec.NONE, BATCH_SIZE_BYTES);
        lz4Builder = new BatchBuilder(allocator, CompressionCodec.LZ4, BATCH_SIZE_BYTES);
        reader = new BatchReader(allocator);
        room = DecompressionRoom.ofSmall(allocator);
        validator = new BatchValidator(room);
        plain = buildWith(plainBuilder);
        lz4 = buildWith(lz4Builder);
        ByteBuf records =
                plain.slice(RecordBatch.HEADER_SIZE_BYTES, plain.readableBytes() - RecordBatch.HEADER_SIZE_BYTES);
        lz4Records = allocator.directBuffer(BATCH_SIZE_BYTES);
        CompressionCodec.LZ4.compress(records, lz4Records);
        Check.that(validator.validate(plain, 9, BatchRules.DEFAULT, NOW_MS).isSound(), "the measured batch is valid");
        Check.that(validator.validate(lz4, 9, BatchRules.DEFAULT, NOW_MS).isSound(), "the measured batch is valid");
    }

    /** Releases the buffers. */
    @TearDown(Level.Trial)
    public void tearDown() {
        plainBuilder.close();
        lz4Builder.close();
        reader.close();
        room.close();
        plain.release();
        lz4.release();
        lz4Records.release();
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int build() {
        return releaseSized(buildWith(plainBuilder));
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int buildLz4() {
        return releaseSized(buildWith(lz4Builder));
    }

    @Benchmark
    public int buildSingle() {
        return releaseSized(plainBuilder.buildSingle(NOW_MS, null, values[0], List.of(), null));
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int compressLz4() {
        ByteBuf target = allocator.directBuffer(BATCH_SIZE_BYTES);
        ByteBuf records =
                plain.slice(RecordBatch.HEADER_SIZE_BYTES, plain.readableBytes() - RecordBatch.HEADER_SIZE_BYTES);
        CompressionCodec.LZ4.compress(records, target);
        return releaseSized(target);
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int decompressLz4() {
        return releaseSized(CompressionCodec.LZ4.decompress(lz4Records, Integer.MAX_VALUE / 2, allocator));
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int crc() {
        return Crc32c.compute(plain, RecordBatch.ATTRIBUTES, plain.readableBytes() - RecordBatch.ATTRIBUTES);
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long read() {
        return readAll(plain);
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long readLz4() {
        return readAll(lz4);
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long count() {
        long records = 0;
        reader.reset(plain);
        while (reader.nextBatch()) {
            while (reader.next()) {
                records++;
            }
        }
        return records;
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long validate() {
        return validator.validate(plain, 9, BatchRules.DEFAULT, NOW_MS).maxTimestampMs();
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long validateLz4() {
        return validator.validate(lz4, 9, BatchRules.DEFAULT, NOW_MS).maxTimestampMs();
    }

    private long readAll(ByteBuf batch) {
        long sum = 0;
        reader.reset(batch);
        while (reader.nextBatch()) {
            while (reader.next()) {
                ByteBuf value = reader.value();
                sum += reader.offset() + reader.timestampMs() + value.getByte(value.readerIndex());
            }
        }
        return sum;
    }

    private ByteBuf buildWith(BatchBuilder builder) {
        for (byte[] value : values) {
            builder.append(NOW_MS, (byte[]) null, value, List.of());
        }
        return builder.build();
    }

    private static int releaseSized(ByteBuf buffer) {
        int sizeBytes = buffer.readableBytes();
        buffer.release();
        return sizeBytes;
    }
}
