package io.journalq.bench.jmh;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.compaction.CompactionConfig;
import io.journalq.server.journal.compaction.CompactionJob;
import io.journalq.server.journal.compaction.CompactionJob.CompactionResult;
import io.journalq.server.journal.compaction.KeyOffsets;
import io.journalq.server.journal.file.SystemFileStore;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
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

/** Duration of a compaction of a 256 MiB log. After each, a line shows the rate. */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(
        value = 1,
        jvmArgsAppend = {"-Xmx1g", "-XX:+UseSerialGC"})
@Warmup(iterations = 1)
@Measurement(iterations = 3)
public class CompactionBenchmark {
    private static final long LOG_SIZE_BYTES = 256L << 20;
    private static final int RECORDS_PER_BATCH = 100;
    private static final int VALUE_SIZE_BYTES = 200;

    @Param({"NONE", "LZ4"})
    CompressionCodec codec;

    /** Number of distinct keys. Without compression, the log holds about 1.2 million records. */
    @Param({"100000", "1000000"})
    int keys;

    private Path directory;
    private Journal journal;

    @Setup(Level.Iteration)
    public void fill() throws IOException {
        directory = Files.createTempDirectory("compaction-benchmark");
        JournalConfig config = JournalConfig.DEFAULT
                .withSegmentSizeBytes(64 << 20)
                .withRetention(JournalConfig.UNLIMITED, JournalConfig.UNLIMITED)
                .withCompaction(new CompactionConfig(true, 0, 0, Long.MAX_VALUE, 0));
        journal = Journal.open(new SystemFileStore(), directory.resolve("t-0"), config, Runnable::run);
        Random random = new Random(1);
        byte[] value = new byte[VALUE_SIZE_BYTES];
        try (BatchBuilder builder = new BatchBuilder(PooledByteBufAllocator.DEFAULT, codec)) {
            while (journal.sizeBytes() < LOG_SIZE_BYTES) {
                for (int i = 0; i < RECORDS_PER_BATCH; i++) {
                    random.nextBytes(value);
                    // This half compresses.
                    Arrays.fill(value, 0, VALUE_SIZE_BYTES / 2, (byte) 'v');
                    byte[] key = ByteBuffer.allocate(16)
                            .putLong(random.nextInt(keys))
                            .putLong(7)
                            .array();
                    builder.append(1_000, key, value, List.of());
                }
                ByteBuf batch = builder.build();
                journal.append(batch, 1);
                batch.release();
                journal.write();
            }
        }
        journal.flush();
    }

    @TearDown(Level.Iteration)
    public void delete() throws IOException {
        journal.delete();
        new SystemFileStore().delete(directory);
    }

    @Benchmark
    public CompactionResult compact() throws IOException {
        long startNanos = System.nanoTime();
        CompactionResult result = journal.rewrites()
                .compact(new CompactionJob(
                        journal.writtenOffset(),
                        Map.of(),
                        2_000,
                        new KeyOffsets(64L << 20, 1, 2),
                        CompactionJob.Step::run,
                        () -> false));
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        System.out.printf(
                "%.0f MB/s, %d MB of %d MB freed; ",
                result.readSizeBytes() / 1e6 / seconds,
                result.freedSizeBytes() / 1_000_000,
                result.readSizeBytes() / 1_000_000);
        return result;
    }
}
