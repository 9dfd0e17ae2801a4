package io.journalq.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.PartitionsRecord.PartitionState;
import io.journalq.server.metadata.record.TopicRecord;
import io.journalq.server.shard.append.Append;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.replica.ReplicaPeers;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An fsync that takes long on a bad disk, and fails when its partition has left the shard. */
class LateFlushFailureTest {
    private static final int SELF = 0;
    private static final int OTHER = 1;
    private static final int LIMIT_SECONDS = 60;
    private static final int PRODUCE_VERSION = 12;
    private static final long LONG_MS = 600_000;
    private static final int DELETION_MS = 100;
    private static final Uuid ID = new Uuid(1, 1);

    private final ExecutorService blockingPool = Executors.newFixedThreadPool(3);
    private final EventLoops loops = new EventLoops(1);
    private final MetadataMachine metadata = new MetadataMachine(new MetadataMachine.Limits(SELF, 1, 10, 1_000));
    private final CountDownLatch syncing = new CountDownLatch(1);
    private final CountDownLatch failing = new CountDownLatch(1);
    private volatile boolean bad;
    private final AtomicInteger renamed = new AtomicInteger();
    private final FileStore store = new FilterFileStore(new MemoryFileStore()) {
        @Override
        public void move(Path from, Path to) throws IOException {
            renamed.incrementAndGet();
            try {
                Thread.sleep(DELETION_MS); // A second deletion would begin meanwhile.
            } catch (InterruptedException interrupted) {
                throw new IOException(interrupted);
            }
            super.move(from, to);
        }

        @Override
        public LogFile open(Path file, boolean create) throws IOException {
            return new FilterLogFile(super.open(file, create)) {
                @Override
                public void sync() throws IOException {
                    if (bad) {
                        syncing.countDown();
                        await(failing);
                        throw new IOException("Input/output error");
                    }
                    super.sync();
                }
            };
        }
    };

    private static void await(CountDownLatch latch) throws IOException {
        try {
            assertThat(latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException interrupted) {
            throw new IOException(interrupted);
        }
    }

    @AfterEach
    void close() {
        loops.close();
        blockingPool.shutdownNow();
    }

    private static Void append(PartitionHost host) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(0, null, Unpooled.EMPTY_BUFFER, List.of());
            host.append(new Append(builder.build(), PRODUCE_VERSION) {
                @Override
                protected void onDecided() {
                    // The end of the journal shows the outcome.
                }
            });
        }
        return null;
    }

    private static <T> T ask(Shard shard, Function<PartitionHost, T> question) {
        return shard.cycle().ask(() -> question.apply(shard.host(ID, 0))).join();
    }

    /** Opens a leader with a follower, whose log is being synced. */
    private Shards openSyncing(Path directory) throws Exception {
        BrokerConfig config =
                BrokerConfig.defaults().with("data.directories", directory.toString(), ConfigOrigin.COMMAND_LINE);
        Shards shards = new Shards(
                config, loops.cycles(), store, blockingPool, Clock.systemUTC(), Map.of(), MemoryAccount.UNBOUNDED);
        shards.join(new ReplicaPeers(
                SELF,
                () -> 1,
                null,
                id -> null,
                id -> true,
                (topicId, partition, proposal) -> new CompletableFuture<>(),
                (topicId, partition, proposal) -> false,
                LONG_MS,
                LONG_MS));
        TestBrokers.register(metadata, SELF, OTHER);
        MetadataDelta created = metadata.replay(List.of(
                new TopicRecord().setTopicId(ID).setName("orders"),
                new PartitionsRecord()
                        .setTopicId(ID)
                        .setPartitions(List.of(new PartitionState()
                                .setLeader(SELF)
                                .setReplicas(List.of(SELF, OTHER))
                                .setInSyncReplicas(List.of(SELF, OTHER))))));
        shards.partitions().open(created).join();
        Shard shard = shards.shardOf(ID, 0);
        ask(shard, LateFlushFailureTest::append);
        bad = true;
        ask(shard, host -> {
            host.flush(error -> {});
            return null;
        });
        await(syncing);
        return shards;
    }

    @Test
    void shouldReportNoPartitionThatWasDeletedMeanwhile(@TempDir Path directory) throws Exception {
        // given
        Shards shards = openSyncing(directory);
        Shard shard = shards.shardOf(ID, 0);

        // when its topic is deleted, and the sync fails then
        MetadataDelta deleted = metadata.replay(metadata.deleteTopic(ID).records());
        shards.partitions().open(deleted).join();
        shards.partitions().deleteGone(deleted);
        PartitionHost left = ask(shard, host -> host);
        assertThat(left).isNull();
        failing.countDown();
        blockingPool.shutdown();
        assertThat(blockingPool.awaitTermination(LIMIT_SECONDS, TimeUnit.SECONDS))
                .isTrue();

        // then
        int offline = ask(shard, host -> shards.offlinePartitions().count());
        assertThat(offline).isZero();
    }

    @Test
    void shouldDeleteAPartitionThatCannotBeWrittenOnce(@TempDir Path directory) throws Exception {
        // given a leader whose sync has failed
        Shards shards = openSyncing(directory);
        failing.countDown();
        await(() -> shards.offlinePartitions().count() == 1);

        // when its topic is deleted
        MetadataDelta deleted = metadata.replay(metadata.deleteTopic(ID).records());
        shards.partitions().open(deleted).join();
        shards.partitions().deleteGone(deleted);
        await(() -> renamed.get() > 0 && !hasFiles(directory));

        // then
        assertThat(renamed).hasValue(1);
    }

    @Test
    void shouldDeleteAnOfflinePartitionThatMovesAway(@TempDir Path directory) throws Exception {
        // given a replica that must not be used any more, in a directory that can be
        Shards shards = openSyncing(directory);
        failing.countDown();
        Shard shard = shards.shardOf(ID, 0);
        ask(shard, host -> {
            shard.takeOffline(host, new IOException("its log diverges"));
            return null;
        });

        // when it moves to another broker
        MetadataDelta moved = metadata.replay(List.of(new PartitionsRecord()
                .setTopicId(ID)
                .setPartitions(List.of(new PartitionState()
                        .setLeader(OTHER)
                        .setReplicas(List.of(OTHER))
                        .setInSyncReplicas(List.of(OTHER))))));
        shards.partitions().open(moved).join();

        // then
        await(() -> !hasFiles(directory));
        await(() -> shards.offlinePartitions().count() == 0);
    }

    private boolean hasFiles(Path directory) {
        try {
            return store.list(directory).stream().anyMatch(name -> name.startsWith(ID.toString()));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(deadlineNanos);
            Thread.sleep(1);
        }
    }
}
