package io.journalq.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.journal.compaction.KeyOffsets;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.shard.append.Append;
import io.journalq.server.shard.compaction.LogCleaner;
import io.journalq.server.shard.healing.ReplicaHealer;
import io.journalq.server.shard.healing.Scrubber;
import io.journalq.server.shard.read.TimestampLookup;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Work off the loops while there is too little direct memory for reading a file. */
class MemoryShortageTest {
    private static final int LIMIT_SECONDS = 10;
    private static final int PRODUCE_VERSION = 12;
    private static final int BATCHES = 3;
    private static final int BATCH_BYTES = 700;
    private static final Uuid ID = new Uuid(1, 1);

    private final ExecutorService blockingPool = Executors.newFixedThreadPool(2);
    private final EventLoops loops = new EventLoops(1);
    private volatile boolean isShort;
    private final AtomicInteger refusedReads = new AtomicInteger();
    private final FileStore store = new FilterFileStore(new MemoryFileStore()) {
        @Override
        public LogFile open(Path file, boolean create) throws IOException {
            return new FilterLogFile(super.open(file, create)) {
                @Override
                public int read(ByteBuffer target, long position) throws IOException {
                    if (isShort) {
                        refusedReads.incrementAndGet();
                        throw new OutOfMemoryError("Cannot reserve direct buffer memory");
                    }
                    return super.read(target, position);
                }
            };
        }
    };
    private Shards shards;
    private Shard shard;

    @BeforeEach
    void open(@TempDir Path directory) throws Exception {
        BrokerConfig config =
                BrokerConfig.defaults().with("data.directories", directory.toString(), ConfigOrigin.COMMAND_LINE);
        shards = new Shards(
                config, loops.cycles(), store, blockingPool, Clock.systemUTC(), Map.of(), MemoryAccount.UNBOUNDED);
        MetadataMachine metadata = new MetadataMachine(new MetadataMachine.Limits(0, 1, 10, 1_000));
        TestBrokers.register(metadata, 0);
        TopicSpec topic =
                new TopicSpec("orders", 1, 1, List.of(), Map.of("cleanup.policy", "compact", "segment.bytes", "1024"));
        shards.partitions()
                .open(metadata.replay(metadata.createTopic(topic, ID).records()))
                .join();
        shard = shards.shardOf(ID, 0);
        for (int i = 0; i < BATCHES; i++) {
            assertThat(append().get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo(ErrorCode.NONE);
        }
        isShort = true;
    }

    private CompletableFuture<ErrorCode> append() {
        CompletableFuture<ErrorCode> appended = new CompletableFuture<>();
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(1, new byte[1], new byte[BATCH_BYTES], List.of());
            Append append = new Append(builder.build(), PRODUCE_VERSION) {
                @Override
                protected void onDecided() {
                    appended.complete(error());
                }
            };
            shard.cycle().execute(() -> shard.host(ID, 0).append(append));
        }
        return appended;
    }

    @AfterEach
    void close() {
        isShort = false;
        shards.close().join();
        loops.close();
        blockingPool.shutdownNow();
    }

    private void awaitRefusedReads(int count) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (refusedReads.get() < count) {
            assertThat(System.nanoTime())
                    .as("refused reads: " + refusedReads.get())
                    .isLessThan(deadlineNanos);
            Thread.sleep(1);
        }
    }

    @Test
    void shouldScrubAgainAndStopWhenAStepFails() throws Exception {
        Scrubber scrubber = new Scrubber(
                shards,
                blockingPool,
                CompletableFuture::join,
                (topicId, partition, offset) -> {
                    throw new AssertionError("nothing is damaged");
                },
                1,
                1 << 20);
        scrubber.start();
        awaitRefusedReads(2);

        assertThat(CompletableFuture.runAsync(scrubber::close)).succeedsWithin(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void shouldStopWhenHealingFails() throws Exception {
        ReplicaHealer healer = new ReplicaHealer(shards, blockingPool, CompletableFuture::join, null);
        healer.onDamage(ID, 0, 0);
        awaitRefusedReads(1);

        assertThat(CompletableFuture.runAsync(healer::close)).succeedsWithin(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void shouldLookForDamageWhenThereWasNoThreadForIt() throws Exception {
        isShort = false;
        AtomicBoolean refused = new AtomicBoolean();
        Executor pool = work -> {
            if (refused.compareAndSet(false, true)) {
                throw new RejectedExecutionException("no thread can be created");
            }
            blockingPool.execute(work);
        };
        ReplicaHealer healer = new ReplicaHealer(shards, pool, CompletableFuture::join, null);

        healer.onDamage(ID, 0, 0);

        assertThat(refused).isTrue();
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (healer.counters().unhealed() > 0) {
            assertThat(System.nanoTime()).isLessThan(deadlineNanos);
            Thread.sleep(1);
        }
        healer.close();
    }

    @Test
    void shouldReportAPartitionWhoseCompactionFails() throws Exception {
        LogCleaner cleaner = new LogCleaner(
                shards,
                new LogCleaner.CleanerSurroundings(blockingPool, Clock.systemUTC(), CompletableFuture::join),
                new LogCleaner.CleanerLimits(1, 1 << 20, 1),
                () -> new KeyOffsets(1 << 20, 1, 2));
        cleaner.start();
        awaitRefusedReads(1);

        // then it waits for its turn again, and the next rounds compact others
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (cleaner.counters().uncleanablePartitions() == 0) {
            assertThat(System.nanoTime()).isLessThan(deadlineNanos);
            Thread.sleep(1);
        }
        assertThat(refusedReads.get()).isEqualTo(1);
        cleaner.close();
    }

    @Test
    void shouldEndALookupOfATimeWithAnError() {
        TimestampLookup lookup = shard.cycle()
                .ask(() -> shard.host(ID, 0).log().offsetLookup(false))
                .join();

        assertThat(CompletableFuture.supplyAsync(() -> lookup.first(0).error(), blockingPool))
                .succeedsWithin(LIMIT_SECONDS, TimeUnit.SECONDS)
                .isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
    }
}
