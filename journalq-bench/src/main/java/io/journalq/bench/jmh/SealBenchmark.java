package io.journalq.bench.jmh;

import io.journalq.bench.payload.PayloadPool;
import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.BatchSealer;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.journalq.seal.KeyVault;
import io.journalq.seal.Registry;
import io.journalq.seal.SealAdmin;
import io.journalq.seal.SealMode;
import io.journalq.seal.SealPolicy;
import io.journalq.seal.TrustPolicy;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
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
 * Records per second of one core that are built into batches of 64 KiB and sealed (JQE1), or opened, and for comparison
 * only built. Text is compressed by LZ4, random bytes are not. The sender signs each batch, or does not.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SealBenchmark {
    private static final int RECORDS = 64;
    private static final int RECORD_BYTES = 1024;
    private static final TopicPartition PARTITION = new TopicPartition("sealed", 0);

    @Param({"random", "text"})
    public String content;

    @Param({"false", "true"})
    public boolean signed;

    private final PooledByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;
    private PayloadPool pool;
    private CompressionCodec codec;
    private BatchSealer sealer;
    private BatchOpener opener;
    private ByteBuf sealed;
    private ByteBuf opened;

    /** The topics of keys, in memory. */
    private static final class Keys implements KeyLog {
        private final Map<String, List<Entry>> topics = new HashMap<>();

        @Override
        public long append(String topic, byte[] key, byte[] value) {
            List<Entry> entries = entries(topic);
            entries.add(new Entry(entries.size(), key, value));
            return entries.size() - 1L;
        }

        @Override
        public Entry read(String topic, long offset) {
            return offset < entries(topic).size() ? entries(topic).get((int) offset) : null;
        }

        @Override
        public void readAll(String topic, Consumer<Entry> each) {
            List.copyOf(entries(topic)).forEach(each);
        }

        private List<Entry> entries(String topic) {
            return topics.computeIfAbsent(topic, first -> new ArrayList<>());
        }
    }

    @Setup(Level.Trial)
    public void setUp() throws IOException {
        pool = PayloadPool.build(content, RECORD_BYTES, PayloadPool.DEFAULT_SIZE_BYTES);
        codec = content.equals("text") ? CompressionCodec.LZ4 : CompressionCodec.NONE;
        Keys keys = new Keys();
        KeyVault vault = KeyVault.inMemory();
        SealAdmin admin = SealAdmin.found("benchmark", vault, keys, TrustPolicy.onFirstUse(null));
        byte[] sender = vault.makeSender("sender").publicKey();
        byte[] role = vault.makeRole("readers", 1).publicKey();
        admin.change(next -> next.withSender("sender", sender, List.of("*"))
                .withRole("readers", 1, role)
                .withTopic(PARTITION.topic(), SealMode.BATCH, List.of("readers"))
                .withSignatures(PARTITION.topic(), signed));
        SealPolicy policy = SealPolicy.builder()
                .realm("benchmark")
                .trust(TrustPolicy.pinned(Registry.fingerprint(vault.root().publicKey()), null))
                .vault(vault)
                .sender("sender")
                .build();
        sealer = policy.sealer(keys);
        opener = policy.opener(keys);
        sealer.prepare(PARTITION.topic());
        sealed = seal();
        RecordBatch.setBaseOffset(sealed, 0, 0);
        opened = allocator.directBuffer(2 * RECORDS * RECORD_BYTES);
    }

    @TearDown(Level.Trial)
    public void tearDown() {
        sealer.close();
        opener.close();
        sealed.release();
        opened.release();
    }

    private ByteBuf build() {
        try (BatchBuilder builder = new BatchBuilder(allocator, codec)) {
            for (int i = 0; i < RECORDS; i++) {
                builder.append(i, (byte[]) null, pool.message(i), List.of());
            }
            return builder.build();
        }
    }

    private ByteBuf seal() {
        sealer.prepare(PARTITION.topic());
        return sealer.place(PARTITION).seal(build());
    }

    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public int buildOnly() {
        return release(build());
    }

    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public int buildAndSeal() {
        return release(seal());
    }

    /** Always the same batch, from a position that was sought, so that it is no repetition. */
    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public int open() {
        opener.start(PARTITION, 0, "");
        opened.clear();
        opener.open(PARTITION, sealed, 0, opened);
        return opened.readableBytes();
    }

    private static int release(ByteBuf batch) {
        int sizeBytes = batch.readableBytes();
        batch.release();
        return sizeBytes;
    }
}
