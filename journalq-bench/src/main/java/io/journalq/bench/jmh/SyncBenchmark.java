package io.journalq.bench.jmh;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
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
 * Duration of a cycle of acknowledgements after an fsync: each caller's record is written to the file of a partition, then
 * all files are synced. {@code callers} divided by the time is the rate of acknowledgements.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(
        value = 1,
        jvmArgsAppend = {"-Xmx256m", "-XX:+UseSerialGC"})
@Warmup(iterations = 1, time = 1)
@Measurement(iterations = 3, time = 1)
public class SyncBenchmark {
    private static final int RECORD_SIZE_BYTES = 1_100;
    private static final long SHARED_SIZE_BYTES = 64L << 20;
    private static final int SYNCS_AT_ONCE = 8;

    /** How the records are synced. */
    public enum Way {
        /** The files are synced one after the other. */
        SERIAL,
        /** Several files are synced at the same time. */
        PARALLEL,
        /** All records are also written to one preallocated file, which is synced. */
        SHARED
    }

    @Param({"SERIAL", "PARALLEL", "SHARED"})
    Way way;

    @Param({"1", "200", "1000"})
    int partitions;

    @Param({"1", "32", "400"})
    int callers;

    private final ByteBuffer record = ByteBuffer.allocateDirect(RECORD_SIZE_BYTES);
    private final Random random = new Random(1);
    private final List<FileChannel> files = new ArrayList<>();
    private Path directory;
    private long[] positions;
    private ByteBuffer gathered;
    private FileChannel shared;
    private long sharedPosition;
    private ExecutorService pool;

    @Setup
    public void open() throws IOException {
        directory = Files.createTempDirectory("sync-benchmark");
        positions = new long[partitions];
        for (int i = 0; i < partitions; i++) {
            files.add(create(i + ".log"));
        }
        gathered = ByteBuffer.allocateDirect(RECORD_SIZE_BYTES * callers);
        shared = create("shared");
        ByteBuffer zeros = ByteBuffer.allocateDirect(1 << 20);
        for (long at = 0; at < SHARED_SIZE_BYTES; at += zeros.capacity()) {
            shared.write(zeros.clear(), at);
        }
        shared.force(true);
        pool = Executors.newFixedThreadPool(SYNCS_AT_ONCE);
    }

    private FileChannel create(String name) throws IOException {
        return FileChannel.open(directory.resolve(name), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    }

    @TearDown
    public void delete() throws IOException {
        pool.shutdownNow();
        shared.close();
        for (FileChannel file : files) {
            file.close();
        }
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    @Benchmark
    public int cycle() throws IOException, InterruptedException, ExecutionException {
        BitSet dirty = new BitSet(partitions);
        gathered.clear();
        for (int i = 0; i < callers; i++) {
            int partition = random.nextInt(partitions);
            positions[partition] += files.get(partition).write(record.clear(), positions[partition]);
            dirty.set(partition);
            gathered.put(record.clear());
        }
        switch (way) {
            case SERIAL -> sync(dirty.stream().toArray(), 0, 1);
            case PARALLEL -> syncAtOnce(dirty.stream().toArray());
            case SHARED -> syncShared();
        }
        return dirty.cardinality();
    }

    private void sync(int[] which, int first, int step) throws IOException {
        for (int i = first; i < which.length; i += step) {
            files.get(which[i]).force(false);
        }
    }

    private void syncAtOnce(int[] which) throws InterruptedException, ExecutionException {
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < Math.min(SYNCS_AT_ONCE, which.length); i++) {
            int first = i;
            tasks.add(() -> {
                sync(which, first, SYNCS_AT_ONCE);
                return null;
            });
        }
        for (Future<Void> done : pool.invokeAll(tasks)) {
            done.get();
        }
    }

    private void syncShared() throws IOException {
        gathered.flip();
        if (sharedPosition + gathered.remaining() > SHARED_SIZE_BYTES) {
            sharedPosition = 0;
        }
        sharedPosition += shared.write(gathered, sharedPosition);
        shared.force(false);
    }
}
