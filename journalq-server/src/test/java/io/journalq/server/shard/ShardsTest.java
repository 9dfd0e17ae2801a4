package io.journalq.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.journal.WalReplay;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.wal.WriteAheadLog;
import io.journalq.server.journal.wal.WriteAheadScan;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.BrokerOverrides;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataDelta.TopicChange;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.record.ConfigRecord;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.PartitionsRecord.PartitionState;
import io.journalq.server.metadata.record.ResourceConfigRecord;
import io.journalq.server.metadata.record.TopicRecord;
import io.journalq.server.shard.append.Append;
import io.journalq.server.shard.partition.PartitionFiles.StoredPartition;
import io.journalq.server.shard.partition.PartitionHost;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shards apply what a delta names. */
class ShardsTest {
    private static final int TOPICS = 50;
    private static final int OTHER = 1;
    private static final int LIMIT_SECONDS = 60;
    private static final int PRODUCE_VERSION = 12;
    private static final Uuid ID = new Uuid(1, 1);

    private final ExecutorService blockingPool = Executors.newFixedThreadPool(2);
    private final EventLoops loops = new EventLoops(2);
    private final MetadataMachine metadata = new MetadataMachine(new MetadataMachine.Limits(0, 1, 10, 1_000));
    private final Set<String> broken = ConcurrentHashMap.newKeySet();
    private final Map<String, CountDownLatch> held = new ConcurrentHashMap<>();
    private final FileStore store = new FilterFileStore(new MemoryFileStore()) {
        @Override
        public List<String> list(Path directory) throws IOException {
            String name = String.valueOf(directory.getFileName());
            awaitRelease(name);
            if (broken.contains(name)) {
                throw new IOException("Input/output error");
            }
            if (shortages.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new OutOfMemoryError("Cannot reserve direct buffer memory");
            }
            return super.list(directory);
        }

        @Override
        public void move(Path from, Path to) throws IOException {
            if (failsMoves) {
                throw new IOException("Input/output error");
            }
            super.move(from, to);
        }

        @Override
        public LogFile open(Path file, boolean create) throws IOException {
            return new FilterLogFile(super.open(file, create)) {
                @Override
                public void write(ByteBuffer source, long position) throws IOException {
                    if (failsWriteAhead && file.getParent().endsWith(WriteAheadLog.DIRECTORY_NAME)) {
                        writeAheadFailures.incrementAndGet();
                        throw new IOException("No space left on device");
                    }
                    super.write(source, position);
                }

                @Override
                public void truncate(long sizeBytes) throws IOException {
                    if (runsShort) {
                        runsShort = false;
                        throw new OutOfMemoryError("Cannot reserve direct buffer memory");
                    }
                    super.truncate(sizeBytes);
                }

                @Override
                public void sync() throws IOException {
                    if (failsSyncs) {
                        throw new IOException("Input/output error");
                    }
                    super.sync();
                }
            };
        }
    };
    private volatile boolean failsSyncs;
    private volatile boolean failsWriteAhead;
    private final AtomicInteger writeAheadFailures = new AtomicInteger();
    private volatile boolean failsMoves;
    /** Number of times that a directory cannot be listed. */
    private final AtomicInteger shortages = new AtomicInteger();
    /** The next truncation of a file fails. */
    private volatile boolean runsShort;

    private long writeAheadBytes;
    private Path data;
    private Shards shards;

    /** The partition cannot be opened until the latch is released. */
    private CountDownLatch hold(Uuid topicId, int partition) {
        CountDownLatch latch = new CountDownLatch(1);
        held.put(StoredPartition.directoryName(topicId, partition), latch);
        return latch;
    }

    private void awaitRelease(String directoryName) throws IOException {
        CountDownLatch latch = held.get(directoryName);
        try {
            if (latch != null && !latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("held for too long");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @BeforeEach
    void create(@TempDir Path directory) throws Exception {
        data = directory;
        start();
    }

    private void start() throws Exception {
        BrokerConfig config = BrokerConfig.defaults()
                .with("data.directories", data.toString(), ConfigOrigin.COMMAND_LINE)
                .with("write.ahead.max.bytes", Long.toString(writeAheadBytes), ConfigOrigin.COMMAND_LINE)
                .with("delivery.mode", writeAheadBytes == 0 ? "eventual" : "consistent", ConfigOrigin.COMMAND_LINE);
        shards = new Shards(
                config, loops.cycles(), store, blockingPool, Clock.systemUTC(), Map.of(), MemoryAccount.UNBOUNDED);
    }

    @AfterEach
    void close() {
        shards.close().join();
        loops.close();
        blockingPool.shutdown();
    }

    ShardsTest() {
        TestBrokers.register(metadata, 0);
    }

    private MetadataDelta createTopic(int number) {
        TopicSpec spec = new TopicSpec("topic-" + number, 1, 1, List.of(), Map.of());
        return metadata.replay(metadata.createTopic(spec, new Uuid(1, number)).records());
    }

    private int openPartitions() {
        return shards.storedPartitions().join().size();
    }

    @Test
    void shouldTouchOnlyTheTopicsOfTheDeltaWhenTheImageHasMore() {
        // given many topics that the shards do not know
        MetadataDelta last = null;
        for (int number = 0; number < TOPICS; number++) {
            last = createTopic(number);
        }

        // when they apply the last change only
        shards.partitions().open(last).join();

        // then they look at one topic
        assertThat(last.now().topics()).hasSize(TOPICS);
        assertThat(openPartitions()).isEqualTo(1);

        // and when one topic is removed, they remove one
        MetadataImage image = metadata.image();
        shards.partitions()
                .deleteGone(new MetadataDelta(
                        image,
                        MetadataImage.EMPTY,
                        List.of(new TopicChange(image.topic(new Uuid(1, TOPICS - 1)), null))));
        assertThat(openPartitions()).isZero();
    }

    @Test
    void shouldOpenOnlyThePartitionsThatHaveAReplicaOnThisBroker() {
        // given a topic with partitions on this broker, on another one, and on both
        Uuid id = new Uuid(1, 1);
        MetadataDelta created = metadata.replay(List.of(
                new TopicRecord().setTopicId(id).setName("spread"),
                new PartitionsRecord()
                        .setTopicId(id)
                        .setPartitions(List.of(partition(0), partition(OTHER), partition(OTHER, 0)))));

        // when
        shards.partitions().open(created).join();

        // then
        assertThat(shards.storedPartitions().join())
                .extracting(StoredPartition::name)
                .extracting(TopicPartition::partition)
                .containsExactlyInAnyOrder(0, 2);
        assertThat(shards.partitions().partitionCount()).isEqualTo(2);

        // and when the other partition gets a replica here
        PartitionsRecord moved =
                new PartitionsRecord().setTopicId(id).setFirstPartition(1).setPartitions(List.of(partition(OTHER, 0)));
        shards.partitions().open(metadata.replay(List.of(moved))).join();

        // then
        assertThat(openPartitions()).isEqualTo(3);
    }

    private static PartitionState partition(Integer... replicas) {
        return new PartitionState()
                .setLeader(replicas[0])
                .setReplicas(List.of(replicas))
                .setInSyncReplicas(List.of(replicas));
    }

    private MetadataDelta create(PartitionState... partitions) {
        return metadata.replay(List.of(
                new TopicRecord().setTopicId(ID).setName("orders"),
                new PartitionsRecord().setTopicId(ID).setPartitions(List.of(partitions))));
    }

    private MetadataDelta change(int partition, PartitionState state) {
        return metadata.replay(List.of(new PartitionsRecord()
                .setTopicId(ID)
                .setFirstPartition(partition)
                .setPartitions(List.of(state))));
    }

    private static Void appendRecord(PartitionHost host) {
        return appendRecords(host, 1);
    }

    private static Void appendRecords(PartitionHost host, int count) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            for (int i = 0; i < count; i++) {
                builder.append(0, null, Unpooled.EMPTY_BUFFER, List.of());
            }
            host.append(new Append(builder.build(), PRODUCE_VERSION) {
                @Override
                protected void onDecided() {
                    // The end of the journal shows the outcome.
                }
            });
        }
        return null;
    }

    private <T> T ask(int partition, Function<PartitionHost, T> question) {
        Shard shard = shards.shardOf(ID, partition);
        return shard.cycle()
                .ask(() -> question.apply(shard.host(ID, partition)))
                .join();
    }

    @Test
    void shouldApplyLaterChangesInOrderWhenAPartitionIsStillOpening() throws Exception {
        // given a partition that takes its time to open, and another one
        CountDownLatch release = hold(ID, 0);
        CompletableFuture<Void> opened = shards.partitions().open(create(partition(0), partition(0)));

        // when it gets new leader epochs
        for (int epoch = 1; epoch <= 3; epoch++) {
            shards.partitions()
                    .open(change(0, partition(0).setLeaderEpoch(epoch)))
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS);
        }
        CompletableFuture<Void> otherOpened = shards.partitions().whenOpen(ID, 1);
        shards.partitions().open(change(1, partition(0).setLeaderEpoch(5))).join();

        // then the other partition does not wait for it
        otherOpened.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        shards.partitions().whenOpen(ID, 1).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertThat(ask(1, PartitionHost::leaderEpoch)).isEqualTo(5);
        assertThat(opened).isNotDone();

        // and it is led in the newest epoch as soon as it is open
        release.countDown();
        opened.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertThat(ask(0, PartitionHost::leaderEpoch)).isEqualTo(3);
        assertThat(shards.offlinePartitions().count()).isZero();
    }

    @Test
    void shouldDeleteAPartitionThatLosesItsReplica() throws Exception {
        // given a partition with a record
        shards.partitions().open(create(partition(0))).join();
        ask(0, ShardsTest::appendRecord);

        // when another broker gets it
        shards.partitions().open(change(0, partition(OTHER).setLeaderEpoch(1))).join();
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);

        // then it is not here
        assertThat(openPartitions()).isZero();
        assertThat(shards.partitions().partitionCount()).isZero();
        assertThat(shards.shardOf(ID, 0).errorOfMissing(ID, 0)).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);

        assertThat(store.isDirectory(data.resolve(StoredPartition.directoryName(ID, 0))))
                .isFalse();

        // and when it comes back, it is empty
        shards.partitions().open(change(0, partition(0).setLeaderEpoch(2))).join();
        Long endOffset = ask(0, host -> host.journal().endOffset());
        assertThat(endOffset).isZero();
        assertThat(ask(0, PartitionHost::leaderEpoch)).isEqualTo(2);
    }

    /** Opens all partitions as the first change after a start, and returns those that have lost records. */
    private Map<Uuid, List<Integer>> restart() throws Exception {
        shards.close().join();
        start();
        shards.partitions().open(MetadataDelta.ofAll(metadata.image())).join();
        return shards.partitions().takeIncomplete();
    }

    @Test
    void shouldFindMissingFilesAfterEachStartUntilTheControllerKnowsThem() throws Exception {
        // given replicas without files: one that should have some, one that is not in sync, and one without others
        create(partition(0, OTHER), partition(OTHER, 0).setInSyncReplicas(List.of(OTHER)), partition(0));

        // then
        Map<Uuid, List<Integer>> lost = restart();
        assertThat(lost).isEqualTo(Map.of(ID, List.of(0)));
        assertThat(restart()).as("there are files now").isEqualTo(lost);
        shards.partitions().forgetLosses(lost).join();
        assertThat(restart()).isEmpty();
    }

    private Path firstDirectory() {
        return data.resolve(StoredPartition.directoryName(ID, 0));
    }

    private void deleteFilesExcept(List<String> kept) throws IOException {
        for (String name : store.list(firstDirectory())) {
            if (!kept.contains(name)) {
                store.delete(firstDirectory().resolve(name));
            }
        }
    }

    @Test
    void shouldFindThatAKilledReplicaWithoutRecordsHasLostNothing() throws Exception {
        // given a replica of a new topic, without a record
        shards.partitions().takeIncomplete();
        shards.partitions().open(create(partition(0, OTHER))).join();
        List<String> files = store.list(firstDirectory());

        // when its process is killed, which is a stop without what a stop writes
        shards.close().join();
        deleteFilesExcept(files);
        // then
        assertThat(restart()).isEmpty();

        // and when somebody deletes its files
        shards.close().join();
        deleteFilesExcept(List.of());
        // then
        assertThat(restart()).isEqualTo(Map.of(ID, List.of(0)));
    }

    /** Stops, damages the header of a batch of the first partition, and removes what saves reading it at the start. */
    private void stopAndDamage() throws Exception {
        write(1);
        shards.close().join();
        for (String name : store.list(firstDirectory())) {
            if (name.endsWith(".snapshot")) {
                store.delete(firstDirectory().resolve(name));
            }
        }
        damage();
    }

    private void damage() throws IOException {
        try (LogFile log = store.open(firstDirectory().resolve("00000000000000000000.log"), false)) {
            log.write(ByteBuffer.wrap(new byte[] {-1}), RecordBatch.MAGIC);
        }
    }

    private long firstEndOffset() {
        return ask(0, host -> host.journal().endOffset());
    }

    private boolean isOffline() {
        return shards.offlinePartitions().contains(ID, 0);
    }

    @Test
    void shouldCopyADamagedReplicaAgainWhenOthersAreInSync() throws Exception {
        // given a replica that is eligible, but not in sync, and that is damaged
        shards.partitions().takeIncomplete();
        shards.partitions().open(create(partition(0, OTHER))).join();
        stopAndDamage();
        change(0, partition(OTHER, 0).setInSyncReplicas(List.of(OTHER)).setEligibleLeaders(List.of(0)));

        // then it begins without records, and the controller is told each time until it knows
        Map<Uuid, List<Integer>> lost = restart();
        assertThat(lost).isEqualTo(Map.of(ID, List.of(0)));
        assertThat(isOffline()).isFalse();
        assertThat(firstEndOffset()).isZero();
        assertThat(restart()).isEqualTo(lost);
        shards.partitions().forgetLosses(lost).join();
        assertThat(restart()).isEmpty();
    }

    @Test
    void shouldKeepADamagedReplicaWhenNoOtherIsInSync() throws Exception {
        // given
        shards.partitions().takeIncomplete();
        shards.partitions().open(create(partition(0, OTHER))).join();
        stopAndDamage();
        List<String> files = store.list(firstDirectory());
        change(0, partition(OTHER, 0).setInSyncReplicas(List.of()).setLastKnownEligible(List.of(0)));

        // then
        assertThat(restart()).isEmpty();
        assertThat(isOffline()).isTrue();
        assertThat(store.list(firstDirectory())).isEqualTo(files);
    }

    @Test
    void shouldCopyADamagedReplicaAgainWhenItIsNotEligibleAnyMore() throws Exception {
        // given a damaged replica that is in sync when it is opened
        shards.partitions().takeIncomplete();
        shards.partitions().open(create(partition(0, OTHER))).join();
        stopAndDamage();
        assertThat(restart()).isEmpty();
        assertThat(isOffline()).isTrue();

        // when it is eligible, so that it could lead
        PartitionState inSync = partition(OTHER, 0).setInSyncReplicas(List.of(OTHER));
        shards.partitions()
                .open(change(0, inSync.setEligibleLeaders(List.of(0))))
                .join();
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        // then
        assertThat(isOffline()).isTrue();

        // and when it is not
        shards.partitions()
                .open(change(0, partition(OTHER, 0).setInSyncReplicas(List.of(OTHER))))
                .join();
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        // then
        assertThat(isOffline()).isFalse();
        assertThat(firstEndOffset()).isZero();
        assertThat(restart()).as("nobody has to be told").isEmpty();
    }

    @Test
    void shouldNotOpenAReplicaTwiceThatWasDamagedWhenItChangesWhileItIsOpened() throws Exception {
        // given a replica that was damaged, and was moved to another broker, and no thread to open it
        openDamagedAndMoveAway();
        CountDownLatch release = new CountDownLatch(1);
        for (int thread = 0; thread < 2; thread++) {
            blockingPool.execute(() -> {
                try {
                    release.await();
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                }
            });
        }

        // when it comes back, and its partition changes before it is open
        PartitionState back = partition(OTHER, 0).setInSyncReplicas(List.of(OTHER));
        var unusedFirst = shards.partitions().open(change(0, back.setLeaderEpoch(2)));
        Shard shard = shards.shardOf(ID, 0);
        CompletableFuture<PartitionHost> first = shards.partitions()
                .whenOpen(ID, 0)
                .thenCompose(unused -> shard.cycle().ask(() -> shard.host(ID, 0)));
        var unusedSecond = shards.partitions().open(change(0, back.setLeaderEpoch(3)));
        release.countDown();
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);

        // then
        PartitionHost same = ask(0, host -> host);
        assertThat(same).isSameAs(first.get(LIMIT_SECONDS, TimeUnit.SECONDS));
        assertThat(ask(0, PartitionHost::leaderEpoch)).isEqualTo(3);
    }

    /** Another broker gets a replica that was damaged when it was opened. */
    private void openDamagedAndMoveAway() throws Exception {
        shards.partitions().takeIncomplete();
        shards.partitions().open(create(partition(0, OTHER))).join();
        stopAndDamage();
        restart();
        assertThat(isOffline()).isTrue();
        moveAway();
    }

    @Test
    void shouldNotOpenADamagedReplicaThatHasMovedWhenSettingsOfBrokersChange() throws Exception {
        openDamagedAndMoveAway();

        ResourceConfigRecord rate = new ResourceConfigRecord()
                .setResourceType(BrokerOverrides.EVERY_BROKER.kind().code())
                .setResourceName(BrokerOverrides.EVERY_BROKER.name())
                .setName("follower.replication.throttled.rate")
                .setValue("1000000");
        shards.partitions().open(metadata.replay(List.of(rate))).join();
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);

        assertThat(openPartitions()).isZero();
        assertThat(store.isDirectory(firstDirectory())).isFalse();
    }

    @Test
    void shouldCopyADamagedReplicaAgainWhenItsFilesCanBeDeletedLater() throws Exception {
        // given a damaged replica that nobody needs, and whose files cannot be deleted when it is opened
        shards.partitions().takeIncomplete();
        shards.partitions().open(create(partition(0, OTHER))).join();
        stopAndDamage();
        PartitionState outOfSync = partition(OTHER, 0).setInSyncReplicas(List.of(OTHER));
        change(0, outOfSync);
        failsMoves = true;
        restart();
        assertThat(isOffline()).isTrue();

        // when its partition changes
        failsMoves = false;
        shards.partitions().open(change(0, outOfSync.setLeaderEpoch(1))).join();
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);

        // then
        assertThat(isOffline()).isFalse();
        assertThat(firstEndOffset()).isZero();
    }

    @Test
    void shouldNotOpenAReplicaTwiceThatWasDamagedBeforeItMovedAwayAndCameBack() throws Exception {
        // given a replica that was damaged, was moved to another broker, and is back
        shards.partitions().takeIncomplete();
        shards.partitions().open(create(partition(0, OTHER))).join();
        stopAndDamage();
        restart();
        assertThat(isOffline()).isTrue();
        shards.partitions().open(change(0, partition(OTHER).setLeaderEpoch(1))).join();
        PartitionState back = partition(OTHER, 0).setInSyncReplicas(List.of(OTHER));
        shards.partitions().open(change(0, back.setLeaderEpoch(2))).join();
        assertThat(isOffline()).isFalse();
        PartitionHost host = ask(0, open -> open);

        // when its partition changes
        shards.partitions().open(change(0, back.setLeaderEpoch(3))).join();
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);

        // then
        PartitionHost same = ask(0, open -> open);
        assertThat(same).isSameAs(host);
    }

    /** Appends records to the first partition, and waits until they are in the file. */
    private void write(int count) throws InterruptedException {
        ask(0, host -> appendRecords(host, count));
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (ask(0, host -> host.journal().isDirty())) {
            assertThat(System.nanoTime()).isLessThan(deadlineNanos);
            Thread.sleep(1);
        }
    }

    private boolean hasWriteAheadRecord() throws IOException {
        for (Path file : WriteAheadScan.files(store, data)) {
            try (WriteAheadScan scan = WriteAheadScan.open(store, file)) {
                if (scan.next() != null) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Opens a replica with records in the write-ahead files, and returns its log. */
    private Path openCovered() throws Exception {
        return openCovered(partition(0));
    }

    /** The same, of the first of several partitions. */
    private Path openCovered(PartitionState... states) throws Exception {
        shards.close().join();
        writeAheadBytes = 1 << 20;
        start();
        shards.partitions().open(create(states)).join();
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!hasWriteAheadRecord() && System.nanoTime() < deadlineNanos) {
            write(1);
        }
        return data.resolve(StoredPartition.directoryName(ID, 0)).resolve("00000000000000000000.log");
    }

    /** Another broker gets the replica, and it comes back with other records, which a start after a crash keeps. */
    private void moveAndComeBack(Path log) throws Exception {
        long firstBytes = store.sizeBytes(log);
        shards.partitions().open(change(0, partition(OTHER).setLeaderEpoch(1))).join();
        leadAndCrash(log, firstBytes);
    }

    /** The replica leads and gets other, longer records than before, which a start after a crash keeps. */
    private void leadAndCrash(Path log, long firstBytes) throws Exception {
        shards.partitions().open(change(0, partition(0).setLeaderEpoch(2))).join();
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        // The first batch of a file is in no write-ahead file: nothing else could repair it.
        write(1_000);
        assertThat(store.sizeBytes(log)).isGreaterThan(firstBytes);
        byte[] written = store.read(log, 1 << 20);

        WalReplay.run(store, data);
        assertThat(store.read(log, 1 << 20)).isEqualTo(written);
    }

    @Test
    void shouldNotReplayWritesOfAReplicaThatHasMovedAndComeBack() throws Exception {
        Path log = openCovered();

        moveAndComeBack(log);
    }

    @Test
    void shouldNotReplayWritesOfAnOfflineReplicaThatHasMovedAndComeBack() throws Exception {
        // given a replica that must not be used any more, in a directory that can be
        Path log = openCovered();
        takeOffline();

        moveAndComeBack(log);
    }

    /** Cuts the first partition at its end, so that it is closed and opened again. */
    private void reopen() throws Exception {
        cut(ask(0, host -> host.journal().writtenOffset()));
    }

    /** Cuts the first partition, which is closed for that and opened again. */
    private void cut(long offset) throws Exception {
        Shard shard = shards.shardOf(ID, 0);
        PartitionCuts cuts = new PartitionCuts(shards.partitions(), shard, Runnable::run);
        PartitionHost before = ask(0, host -> host);
        cuts.cut(before, offset);
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        PartitionHost after = ask(0, host -> host);
        assertThat(after).isNotSameAs(before);
    }

    @Test
    void shouldCutAPartitionWhenAThreadForThatIsFreeLater() throws Exception {
        // given a partition with two records, and no thread
        shards.partitions().open(create(partition(0))).join();
        write(1);
        write(1);
        AtomicBoolean refused = new AtomicBoolean();
        PartitionCuts cuts = new PartitionCuts(shards.partitions(), shards.shardOf(ID, 0), work -> {
            if (refused.compareAndSet(false, true)) {
                throw new RejectedExecutionException("planted");
            }
            blockingPool.execute(work);
        });

        // when
        ask(0, host -> {
            cuts.cut(host, 1);
            return null;
        });

        // then
        assertThat(refused).isTrue();
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (ask(0, host -> host == null || host.journal().endOffset() != 1)) {
            assertThat(System.nanoTime()).isLessThan(deadlineNanos);
            Thread.sleep(1);
        }
    }

    @Test
    void shouldOpenAPartitionAgainWhenTheMemoryForItsCutIsShort() throws Exception {
        // given a partition with two records
        shards.partitions().open(create(partition(0))).join();
        write(1);
        write(1);
        PartitionHost before = ask(0, host -> host);
        PartitionCuts cuts = new PartitionCuts(shards.partitions(), shards.shardOf(ID, 0), blockingPool);

        // when
        runsShort = true;
        ask(0, host -> {
            cuts.cut(host, 1);
            return null;
        });

        // then its leader can ask for the cut again
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (ask(0, host -> host == null || host == before)) {
            assertThat(System.nanoTime()).isLessThan(deadlineNanos);
            Thread.sleep(1);
        }
        assertThat(runsShort).isFalse();
        cut(1);
        assertThat(firstEndOffset()).isEqualTo(1);
    }

    @Test
    void shouldOpenAPartitionWhenALackOfMemoryIsOver() {
        shortages.set(2);

        shards.partitions().open(create(partition(0))).join();

        assertThat(isOffline()).isFalse();
        assertThat(firstEndOffset()).isZero();
    }

    @Test
    void shouldNotReplayWritesOfAReplicaThatWasOpenedAgainBeforeItHasMovedAndComeBack() throws Exception {
        Path log = openCovered();
        reopen();

        moveAndComeBack(log);
    }

    @Test
    void shouldNotReplayWritesOfAReplicaThatCouldNotBeOpenedAgainBeforeItHasMovedAndComeBack() throws Exception {
        // given a replica that is closed because its directory cannot be read
        Path log = openCovered();
        broken.add(StoredPartition.directoryName(ID, 0));
        reopen();
        assertThat(isOffline()).isTrue();
        broken.clear();

        moveAndComeBack(log);
    }

    @Test
    void shouldNotReplayWritesOfAReplicaThatBeginsAgainWithoutItsDamagedFiles() throws Exception {
        // given a replica that is not in sync, and that is damaged when it is opened again
        Path log = openCovered();
        PartitionState outOfSync = partition(OTHER, 0).setInSyncReplicas(List.of(OTHER));
        shards.partitions().open(change(0, outOfSync.setLeaderEpoch(1))).join();
        long firstBytes = store.sizeBytes(log);
        damage();
        reopen();
        assertThat(firstEndOffset()).isZero();

        leadAndCrash(log, firstBytes);
    }

    @Test
    void shouldNotReplayWritesOfAReplicaThatIsCutAfterItWasOpenedAgainInAnotherMode() throws Exception {
        // given a topic that has left mode consistent, and a replica that was opened again since
        Path log = openCovered();
        ConfigRecord mode =
                new ConfigRecord().setTopicId(ID).setName("delivery.mode").setValue("eventual");
        shards.partitions().open(metadata.replay(List.of(mode))).join();
        reopen();
        long firstBytes = store.sizeBytes(log);

        // when all records but the first are removed
        cut(1);
        assertThat(firstEndOffset()).isEqualTo(1);

        leadAndCrash(log, firstBytes);
    }

    private void takeOffline() {
        Shard shard = shards.shardOf(ID, 0);
        ask(0, host -> {
            shard.takeOffline(host, new IOException("its log diverges"));
            return null;
        });
    }

    @Test
    void shouldDeleteAnOfflineReplicaThatHasMovedWhenItsWritesCannotBeMadeVoid() throws Exception {
        // given an offline replica, and write-ahead files on a bad disk
        openCovered();
        takeOffline();
        failsSyncs = true;

        moveAway();

        assertThat(store.isDirectory(firstDirectory())).isFalse();
        assertThat(isOffline()).isFalse();
    }

    private void moveAway() throws Exception {
        shards.partitions().open(change(0, partition(OTHER).setLeaderEpoch(1))).join();
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void shouldDeleteAReplicaThatHasMovedAndNotReplayItsWritesWhenTheyCannotBeMadeVoidYet() throws Exception {
        // given write-ahead files that another replica needs as well, and no room in them
        Path log = openCovered(partition(0), partition(0));
        ask(1, host -> appendRecords(host, 1));
        ask(1, host -> appendRecords(host, 1));
        long firstBytes = store.sizeBytes(log);
        failsWriteAhead = true;

        // when a replica moves away, and comes back when there is room again
        moveAway();
        assertThat(store.isDirectory(firstDirectory())).isFalse();
        failsWriteAhead = false;

        leadAndCrash(log, firstBytes);
    }

    @Test
    void shouldNotOpenAReplicaThatHasComeBackWhenItsWritesCannotBeMadeVoid() throws Exception {
        // given a replica that was deleted, whose writes the write-ahead files still have
        openCovered();
        failsWriteAhead = true;
        moveAway();

        // when
        shards.partitions().open(change(0, partition(0).setLeaderEpoch(2))).join();
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);

        // then
        assertThat(isOffline()).isTrue();
        assertThat(store.isDirectory(firstDirectory())).isFalse();
    }

    @Test
    void shouldOpenAReplicaThatHasComeBackWhenItsWritesCanBeMadeVoidSoon() throws Exception {
        // given a replica that was deleted, whose writes the write-ahead files still have
        openCovered();
        failsWriteAhead = true;
        moveAway();

        // when it comes back while the write-ahead files have no room for a short time
        int failures = writeAheadFailures.get();
        CompletableFuture<Void> opened =
                shards.partitions().open(change(0, partition(0).setLeaderEpoch(2)));
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (writeAheadFailures.get() == failures && System.nanoTime() < deadlineNanos) {
            Thread.sleep(1);
        }
        failsWriteAhead = false;
        opened.get(LIMIT_SECONDS, TimeUnit.SECONDS);

        // then
        assertThat(isOffline()).isFalse();
        assertThat(ask(0, PartitionHost::leaderEpoch)).isEqualTo(2);
    }

    @Test
    void shouldOpenAReplicaThatHasComeBackWhenItsWritesCanBeMadeVoidLater() throws Exception {
        // given a replica that is back, and offline because its earlier writes could not be made void
        openCovered();
        failsWriteAhead = true;
        moveAway();
        PartitionState back = partition(OTHER, 0).setInSyncReplicas(List.of(OTHER));
        shards.partitions().open(change(0, back.setLeaderEpoch(2))).join();
        assertThat(isOffline()).isTrue();

        // when its partition changes after the write-ahead files have got room
        failsWriteAhead = false;
        shards.partitions().open(change(0, back.setLeaderEpoch(3))).join();
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);

        // then
        assertThat(isOffline()).isFalse();
        assertThat(firstEndOffset()).isZero();
    }

    @Test
    void shouldDeleteAReplicaWithItsTopicWhenItsWritesCannotBeMadeVoid() throws Exception {
        // given a replica that could not be opened again, and write-ahead files on a bad disk
        openCovered();
        broken.add(StoredPartition.directoryName(ID, 0));
        reopen();
        broken.clear();
        failsSyncs = true;

        // when its topic is deleted, whose id no other one gets
        MetadataImage image = metadata.image();
        shards.partitions()
                .deleteGone(
                        new MetadataDelta(image, MetadataImage.EMPTY, List.of(new TopicChange(image.topic(ID), null))));

        // then
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (store.isDirectory(firstDirectory())) {
            assertThat(System.nanoTime()).isLessThan(deadlineNanos);
            Thread.sleep(1);
        }
    }

    @Test
    void shouldEndWithTheLastChangeWhenAPartitionComesAndGoesWhileItOpens() throws Exception {
        CountDownLatch release = hold(ID, 0);
        List<CompletableFuture<Void>> opened = new ArrayList<>();
        opened.add(shards.partitions().open(create(partition(0), partition(0))));
        opened.add(shards.partitions().open(change(0, partition(OTHER).setLeaderEpoch(1))));
        opened.add(shards.partitions().open(change(0, partition(0).setLeaderEpoch(2))));
        opened.add(shards.partitions().open(change(0, partition(0).setLeaderEpoch(3))));

        release.countDown();
        for (CompletableFuture<Void> one : opened) {
            one.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        }
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);

        assertThat(ask(0, PartitionHost::leaderEpoch)).isEqualTo(3);
        assertThat(openPartitions()).isEqualTo(2);
        assertThat(shards.offlinePartitions().count()).isZero();
    }

    @Test
    void shouldForgetAnOfflinePartitionWhenItLosesItsReplica() throws Exception {
        // given a partition that cannot be opened
        broken.add(StoredPartition.directoryName(ID, 0));
        shards.partitions().open(create(partition(0))).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertThat(shards.shardOf(ID, 0).errorOfMissing(ID, 0)).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);

        // when
        shards.partitions().open(change(0, partition(OTHER).setLeaderEpoch(1))).join();
        shards.partitions().whenOpen(ID, 0).get(LIMIT_SECONDS, TimeUnit.SECONDS);

        // then
        assertThat(shards.shardOf(ID, 0).errorOfMissing(ID, 0)).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    @Test
    void shouldCloseAPartitionThatIsStillOpeningWhenTheBrokerStops() throws Exception {
        CountDownLatch release = hold(ID, 0);
        CompletableFuture<Void> opened = shards.partitions().open(create(partition(0)));

        CompletableFuture<Boolean> closed = shards.close();
        assertThat(closed).isNotDone();
        release.countDown();

        assertThat(closed.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(opened).isCompleted();
        assertThat(openPartitions()).isZero();
    }

    @Test
    void shouldOpenEveryPartitionWhenItBeginsToFollow() {
        for (int number = 0; number < TOPICS; number++) {
            createTopic(number);
        }

        shards.partitions().open(MetadataDelta.ofAll(metadata.image())).join();

        assertThat(openPartitions()).isEqualTo(TOPICS);
        assertThat(shards.partitions().partitionCount()).isEqualTo(TOPICS);
    }
}
