package io.journalq.bench.jmh;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.journal.read.JournalSlice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
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

/**
 * Time per append on 200 partitions, by size and by the number of batches that a read cycle brings for a partition. For
 * comparison, the same bytes are copied into mapped windows that another thread prepares, for
 * {@code docs/decisions/0001-journal-append.md}. After each iteration, a line shows the processor time of the whole process
 * per append, including the preparation.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 1,
        jvmArgsAppend = {"-Xmx1g", "-XX:+UseSerialGC"})
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 5, time = 1)
public class JournalBenchmark {
    private static final int PARTITIONS = 200;
    private static final int APPENDS = 64;
    private static final int WINDOW_SIZE_BYTES = 256 << 10;

    /** Size of a record's value. Its batch is about 70 bytes larger. */
    @Param({"1024", "102400"})
    int valueSizeBytes;

    /** Number of batches of a partition that are written together. */
    @Param({"1", "4"})
    int batchesPerWrite;

    private final Random random = new Random(1);
    private Path directory;
    private ByteBuf batch;
    private Journal[] journals;
    private MappedAppender[] windows;
    private MappedAppender.Preparer preparer;
    private long appends;
    private long cpuBeforeNs;

    @Setup(Level.Iteration)
    public void open() throws IOException {
        directory = Files.createTempDirectory("journal-benchmark");
        JournalConfig config = JournalConfig.DEFAULT.withRetention(JournalConfig.UNLIMITED, JournalConfig.UNLIMITED);
        journals = new Journal[PARTITIONS];
        windows = new MappedAppender[PARTITIONS];
        preparer = new MappedAppender.Preparer();
        for (int i = 0; i < PARTITIONS; i++) {
            journals[i] = Journal.open(new SystemFileStore(), directory.resolve("t-" + i), config, Runnable::run);
            windows[i] = new MappedAppender(directory.resolve("window-" + i), WINDOW_SIZE_BYTES, preparer);
        }
        try (BatchBuilder builder = new BatchBuilder(PooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(1_000, (byte[]) null, new byte[valueSizeBytes], List.of());
            batch = builder.build();
        }
        appends = 0;
        cpuBeforeNs = processCpuNs();
    }

    @TearDown(Level.Iteration)
    public void close() throws IOException {
        System.out.printf("process: %d ns of CPU per append; ", (processCpuNs() - cpuBeforeNs) / Math.max(1, appends));
        preparer.close();
        for (int i = 0; i < PARTITIONS; i++) {
            windows[i].close();
            journals[i].delete();
        }
        new SystemFileStore().delete(directory);
        batch.release();
    }

    private static long processCpuNs() {
        return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
                .getProcessCpuTime();
    }

    /** The real journal: batches are staged, then written to the file. */
    @Benchmark
    @OperationsPerInvocation(APPENDS)
    public void written() throws IOException {
        for (int i = 0; i < APPENDS; i += batchesPerWrite) {
            Journal journal = journals[random.nextInt(PARTITIONS)];
            for (int j = 0; j < batchesPerWrite; j++) {
                journal.append(batch, 0);
            }
            journal.write();
        }
        appends += APPENDS;
    }

    /** As {@link #written}, and a consumer at the end of the log reads each write. */
    @Benchmark
    @OperationsPerInvocation(APPENDS)
    public void writtenAndRead() throws IOException {
        for (int i = 0; i < APPENDS; i += batchesPerWrite) {
            Journal journal = journals[random.nextInt(PARTITIONS)];
            long from = journal.endOffset();
            for (int j = 0; j < batchesPerWrite; j++) {
                journal.append(batch, 0);
            }
            journal.write();
            JournalSlice slice = journal.read(from, Long.MAX_VALUE, 1 << 20, true);
            slice.toRecordsData(PooledByteBufAllocator.DEFAULT).release();
        }
        appends += APPENDS;
    }

    /** Copies into prepared windows, without the other work of the journal. */
    @Benchmark
    @OperationsPerInvocation(APPENDS)
    public void mapped() {
        for (int i = 0; i < APPENDS; i += batchesPerWrite) {
            MappedAppender appender = windows[random.nextInt(PARTITIONS)];
            for (int j = 0; j < batchesPerWrite; j++) {
                appender.append(batch);
            }
        }
        appends += APPENDS;
    }
}
