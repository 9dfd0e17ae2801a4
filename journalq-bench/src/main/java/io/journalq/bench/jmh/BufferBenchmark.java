package io.journalq.bench.jmh;

import io.journalq.bench.payload.PayloadPool;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.List;
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

/**
 * Time per message to build batches of 100 messages of 1 KiB in buffers on the heap or outside of it, for
 * {@code docs/decisions/0003-batch-buffers.md}. The messages come from a pool that is larger than the caches.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 5, time = 1)
public class BufferBenchmark {
    private static final int BATCH = 100;
    private static final int BATCH_SIZE_BYTES = 128 * 1024;
    private static final long NOW_MS = 1_700_000_000_000L;

    /** Where the batch is built. */
    @Param({"direct", "heap"})
    public String buffers;

    @Param({"text", "random"})
    public String content;

    private Messages messages;
    private BatchBuilder plainBuilder;
    private BatchBuilder lz4Builder;

    /** Returns buffers on the heap when buffers outside of the heap are requested. */
    private static final class HeapAllocator extends PooledByteBufAllocator {
        HeapAllocator() {
            super(false);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            return newHeapBuffer(initialCapacity, maxCapacity);
        }
    }

    @Setup(Level.Trial)
    public void setUp() {
        ByteBufAllocator allocator = buffers.equals("heap") ? new HeapAllocator() : PooledByteBufAllocator.DEFAULT;
        messages = new Messages(content);
        plainBuilder = new BatchBuilder(allocator, CompressionCodec.NONE, BATCH_SIZE_BYTES);
        lz4Builder = new BatchBuilder(allocator, CompressionCodec.LZ4, BATCH_SIZE_BYTES);
    }

    @TearDown(Level.Trial)
    public void tearDown() {
        plainBuilder.close();
        lz4Builder.close();
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int plain() {
        return build(plainBuilder);
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int lz4() {
        return build(lz4Builder);
    }

    private int build(BatchBuilder builder) {
        for (int i = 0; i < BATCH; i++) {
            builder.append(NOW_MS, (byte[]) null, messages.next(), List.of());
        }
        ByteBuf batch = builder.build();
        int sizeBytes = batch.readableBytes();
        batch.release();
        return sizeBytes;
    }

    /** Messages of 1 KiB, one after the other, from a pool that is larger than the caches. One thread. */
    private static final class Messages {
        private static final int SIZE_BYTES = 1024;

        private final PayloadPool pool;
        private int next;

        private Messages(String content) {
            pool = PayloadPool.build(content, SIZE_BYTES, PayloadPool.DEFAULT_SIZE_BYTES);
        }

        private byte[] next() {
            int index = next;
            next = index + 1 == pool.size() ? 0 : index + 1;
            return pool.message(index);
        }
    }
}
