package io.journalq.bench.jmh;

import io.journalq.bench.payload.PayloadPool;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;
import net.jpountz.lz4.LZ4FrameInputStream;
import net.jpountz.lz4.LZ4FrameOutputStream;
import net.jpountz.lz4.LZ4FrameOutputStream.BLOCKSIZE;
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

/**
 * Time to compress and decompress the records of a batch, for {@code docs/decisions/0004-lz4-frames.md}. Compares frames
 * over the block functions with reused buffers, as in broker and client, with the library's frame streams.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 5, time = 1)
public class Lz4Benchmark {
    private static final int MESSAGE_SIZE_BYTES = 1024;

    /** Number of messages of 1 KiB in the batch. */
    @Param({"1", "100"})
    public int messages;

    @Param({"text", "random"})
    public String content;

    private final ByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;
    private byte[] plain;
    private byte[] frame;
    private ByteBuf plainBuffer;
    private ByteBuf frameBuffer;

    @Setup(Level.Trial)
    public void setUp() {
        PayloadPool source = PayloadPool.build(content, MESSAGE_SIZE_BYTES, PayloadPool.DEFAULT_SIZE_BYTES);
        plainBuffer = allocator.directBuffer(messages * MESSAGE_SIZE_BYTES);
        for (int i = 0; i < messages; i++) {
            plainBuffer.writeBytes(source.message(i));
        }
        plain = bytesOf(plainBuffer);
        frameBuffer = allocator.directBuffer();
        CompressionCodec.LZ4.compress(plainBuffer.duplicate(), frameBuffer);
        frame = bytesOf(frameBuffer);
    }

    private static byte[] bytesOf(ByteBuf buffer) {
        byte[] bytes = new byte[buffer.readableBytes()];
        buffer.getBytes(buffer.readerIndex(), bytes);
        return bytes;
    }

    @TearDown(Level.Trial)
    public void tearDown() {
        plainBuffer.release();
        frameBuffer.release();
    }

    @Benchmark
    public int compressOverBlocks() {
        ByteBuf target = allocator.directBuffer(plain.length + 1024);
        CompressionCodec.LZ4.compress(plainBuffer.duplicate(), target);
        int sizeBytes = target.readableBytes();
        target.release();
        return sizeBytes;
    }

    /** Uses the block size and the flags of Kafka's clients. */
    @Benchmark
    public int compressByStream() throws IOException {
        ByteArrayOutputStream target = new ByteArrayOutputStream(plain.length + 1024);
        try (OutputStream out = new LZ4FrameOutputStream(
                target, BLOCKSIZE.SIZE_64KB, LZ4FrameOutputStream.FLG.Bits.BLOCK_INDEPENDENCE)) {
            out.write(plain);
        }
        return target.size();
    }

    @Benchmark
    public int decompressOverBlocks() {
        ByteBuf records = CompressionCodec.LZ4.decompress(frameBuffer.duplicate(), Integer.MAX_VALUE / 2, allocator);
        int sizeBytes = records.readableBytes();
        records.release();
        return sizeBytes;
    }

    @Benchmark
    public int decompressByStream() throws IOException {
        try (InputStream in = new LZ4FrameInputStream(new ByteArrayInputStream(frame))) {
            return in.readAllBytes().length;
        }
    }
}
