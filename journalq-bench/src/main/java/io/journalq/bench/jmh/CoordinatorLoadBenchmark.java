package io.journalq.bench.jmh;

import io.journalq.common.id.Uuid;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.group.GroupRecords;
import io.journalq.server.group.record.OffsetCommitKey;
import io.journalq.server.group.record.OffsetCommitValue;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.store.CoordinatorSlice;
import io.journalq.server.store.CoordinatorStore;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Time until group coordinators are ready: 1,000,000 committed offsets of 1,000 groups in 16 partitions are read from the
 * store, decoded and put into maps, as a group's machine does, on the number of threads that the broker uses. The first shot
 * of each fork shows the cost of a start, with cold code and an empty block cache.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(
        value = 3,
        jvmArgsAppend = {"-Xmx1g", "-XX:+UseSerialGC"})
@Warmup(iterations = 0)
@Measurement(iterations = 3)
public class CoordinatorLoadBenchmark {
    private static final Uuid TOPIC = new Uuid(7, 7);
    private static final int PARTITIONS = 16;
    private static final int GROUPS = 1_000;
    private static final int OFFSETS_PER_GROUP = 1_000;
    private static final int THREADS = Math.max(4, 2 * Runtime.getRuntime().availableProcessors());

    private Path directory;
    private CoordinatorStore store;
    private ExecutorService pool;

    @Setup
    public void fill() throws IOException {
        directory = Files.createTempDirectory("coordinator-benchmark");
        try (CoordinatorStore filled = new CoordinatorStore(directory)) {
            for (int group = 0; group < GROUPS; group++) {
                List<CoordinatorSlice.Change> changes = new ArrayList<>();
                for (int partition = 0; partition < OFFSETS_PER_GROUP; partition++) {
                    changes.add(change("group-" + group, "topic-" + partition / 100, partition % 100));
                }
                filled.slice(TOPIC, group % PARTITIONS).apply(changes, (group + 1L) * OFFSETS_PER_GROUP, 0);
            }
        }
        store = new CoordinatorStore(directory);
        pool = Executors.newFixedThreadPool(THREADS);
    }

    private static CoordinatorSlice.Change change(String group, String topic, int partition) {
        OffsetCommitKey key =
                new OffsetCommitKey().setGroup(group).setTopic(topic).setPartition(partition);
        OffsetCommitValue value = new OffsetCommitValue()
                .setOffset(123_456L + partition)
                .setLeaderEpoch(3)
                .setMetadata("")
                .setCommitTimestamp(1_700_000_000_000L)
                .setTopicId(new Uuid(1, 1));
        CoordinatorRecord record = new CoordinatorRecord(key, value);
        ByteBufAllocator allocator = UnpooledByteBufAllocator.DEFAULT;
        return new CoordinatorSlice.Change(
                bytes(GroupRecords.TYPES.encodeKey(record, allocator)),
                bytes(GroupRecords.TYPES.encodeValue(record, allocator)));
    }

    private static byte[] bytes(ByteBuf buffer) {
        try {
            return ByteBufUtil.getBytes(buffer);
        } finally {
            buffer.release();
        }
    }

    @TearDown
    public void delete() throws IOException {
        pool.shutdown();
        store.close();
        new SystemFileStore().delete(directory);
    }

    @Benchmark
    public List<Map<String, Map<String, Map<Integer, OffsetCommitValue>>>> load() {
        List<CompletableFuture<Map<String, Map<String, Map<Integer, OffsetCommitValue>>>>> loading = new ArrayList<>();
        for (int i = 0; i < PARTITIONS; i++) {
            int partition = i;
            loading.add(CompletableFuture.supplyAsync(() -> load(partition), pool));
        }
        return loading.stream().map(CompletableFuture::join).toList();
    }

    private Map<String, Map<String, Map<Integer, OffsetCommitValue>>> load(int partition) {
        Map<String, Map<String, Map<Integer, OffsetCommitValue>>> groups = new HashMap<>();
        try {
            store.slice(TOPIC, partition).forEach((key, value) -> {
                CoordinatorRecord record =
                        GroupRecords.TYPES.decode(Unpooled.wrappedBuffer(key), Unpooled.wrappedBuffer(value));
                OffsetCommitKey offset = (OffsetCommitKey) record.key();
                groups.computeIfAbsent(offset.group(), group -> new HashMap<>())
                        .computeIfAbsent(offset.topic(), topic -> new HashMap<>())
                        .put(offset.partition(), (OffsetCommitValue) record.value());
            });
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return groups;
    }
}
