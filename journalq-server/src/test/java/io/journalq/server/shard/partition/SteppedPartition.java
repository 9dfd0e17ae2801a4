package io.journalq.server.shard.partition;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.BatchRules;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.ShutdownMarker.LastEnd;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.transaction.AbortedTransaction;
import io.journalq.server.loop.BlockingWork;
import io.journalq.server.loop.Limit;
import io.journalq.server.loop.LoopCounters;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.loop.TopicCounters;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.producerstate.VerificationGuards;
import io.journalq.server.replication.ReplicaSet;
import io.journalq.server.shard.append.Append;
import io.journalq.server.shard.append.AppendResources;
import io.journalq.server.shard.append.AppendSettings;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.append.MarkerAppend;
import io.journalq.server.shard.append.OffLoopBatchValidator;
import io.journalq.server.shard.append.RequiredAcks;
import io.journalq.server.shard.flush.Flusher;
import io.journalq.server.shard.flush.PartitionDurability;
import io.journalq.server.shard.flush.WalSyncers;
import io.journalq.server.shard.flush.WalSyncers.WalLoopBuffers;
import io.journalq.server.shard.partition.PartitionFiles.RecoveredPartition;
import io.journalq.server.shard.partition.PartitionHost.PartitionResources;
import io.journalq.server.shard.read.PartitionRead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;

/** A partition on real files, on a loop that the test steps. */
public final class SteppedPartition {
    private static final Uuid TOPIC_ID = new Uuid(7, 7);
    private static final int PRODUCE_VERSION = 12;
    private static final short TRANSACTION_VERSION = 0;
    /** The id of the broker. */
    public static final int NODE = 0;

    /** In delivery mode performance. */
    public static final int MAX_UNWRITTEN_BYTES = 10_000;

    private final SteppedLoop loop = new SteppedLoop();
    private final LoopCycle cycle;
    private final Flusher flusher;
    private final PartitionHost host;
    private final PartitionResources resources;
    private final PartitionFiles files;
    private final LoopCounters counters;
    private final VerificationGuards guards;
    private final WalSyncers walSyncers;
    private ReplicaSet replicas = ReplicaSet.ofOne(NODE, 0);
    private ThrottledReplicas throttled = ThrottledReplicas.NONE;
    private final ReplicationThrottle.Directions throttles = new ReplicationThrottle.Directions();
    private DeliveryMode mode;
    private int minInSyncReplicas = 1;
    private boolean lastLeaderLives;
    private boolean awaited = true;
    private RequiredAcks acks = RequiredAcks.LEADER;
    private int timeoutMs = 30_000;

    /** One append's outcome; null while it is not decided. */
    public static final class Outcome {
        private ErrorCode error;
        private long offset;
        private Limit limit;

        public ErrorCode error() {
            return error;
        }

        public long offset() {
            return offset;
        }

        /** The limit for which the append was rejected; null if it was not rejected for a limit. */
        public Limit limit() {
            return limit;
        }
    }

    private SteppedPartition(
            FileStore store,
            Path directory,
            PartitionSettings settings,
            int maxInlineBytes,
            Executor offLoopPool,
            long writeAheadBytes,
            Executor committing,
            Executor blockingPool,
            LastEnd lastEnd)
            throws IOException {
        mode = settings.append().deliveryMode();
        cycle = LoopCycle.cycles(List.of(loop)).get(0);
        counters = cycle.counters();
        Clock clock = Clock.systemUTC();
        walSyncers = new WalSyncers(store, List.of(directory), writeAheadBytes, 1, committing, clock);
        flusher = new Flusher(cycle, blockingPool);
        resources = new PartitionResources(
                cycle,
                new AppendResources(
                        cycle,
                        clock,
                        new OffLoopBatchValidator(maxInlineBytes, offLoopPool, 1, clock),
                        MAX_UNWRITTEN_BYTES),
                flusher,
                new WalLoopBuffers(walSyncers, cycle),
                new BlockingWork(blockingPool, 0),
                MemoryAccount.UNBOUNDED,
                throttles,
                NODE);
        guards = resources.appends().guards();
        files = new PartitionFiles(
                store, List.of(directory), Runnable::run, clock, Map.of(directory, lastEnd), walSyncers);
        RecoveredPartition recovered = files.open(new TopicPartition("t", 0), TOPIC_ID, settings, 0, true);
        host = new PartitionHost(resources, recovered, new TopicCounters(1), settings, replicas);
    }

    public static SteppedPartition open(Path directory, JournalConfig journal) throws IOException {
        return open(directory, journal, DeliveryMode.EVENTUAL);
    }

    public static SteppedPartition open(Path directory, JournalConfig journal, DeliveryMode mode) throws IOException {
        return open(new SystemFileStore(), directory, journal, mode);
    }

    public static SteppedPartition open(FileStore store, Path directory, JournalConfig journal, DeliveryMode mode)
            throws IOException {
        return open(store, directory, journal, mode, LastEnd.CLEAN);
    }

    /** Opens a partition of a broker whose last run ended as in {@code lastEnd}. */
    public static SteppedPartition open(
            FileStore store, Path directory, JournalConfig journal, DeliveryMode mode, LastEnd lastEnd)
            throws IOException {
        return new SteppedPartition(
                store,
                directory,
                settings(mode, journal),
                1 << 20,
                Runnable::run,
                0,
                Runnable::run,
                Runnable::run,
                lastEnd);
    }

    /** Opens a partition that runs blocking work in {@code blockingPool}. */
    public static SteppedPartition open(
            FileStore store, Path directory, JournalConfig journal, DeliveryMode mode, Executor blockingPool)
            throws IOException {
        return new SteppedPartition(
                store,
                directory,
                settings(mode, journal),
                1 << 20,
                Runnable::run,
                0,
                Runnable::run,
                blockingPool,
                LastEnd.CLEAN);
    }

    /** Opens a partition that validates batches above a decompressed size in {@code offLoopPool}. */
    public static SteppedPartition open(
            Path directory, PartitionSettings settings, int maxInlineBytes, Executor offLoopPool) throws IOException {
        return new SteppedPartition(
                new SystemFileStore(),
                directory,
                settings,
                maxInlineBytes,
                offLoopPool,
                0,
                Runnable::run,
                Runnable::run,
                LastEnd.CLEAN);
    }

    /** Opens a partition in mode consistent, with write-ahead files. */
    public static SteppedPartition openCovered(
            FileStore store, Path directory, long writeAheadBytes, Executor committing) throws IOException {
        PartitionSettings settings = settings(DeliveryMode.CONSISTENT, JournalConfig.DEFAULT);
        return new SteppedPartition(
                store,
                directory,
                settings,
                1 << 20,
                Runnable::run,
                writeAheadBytes,
                committing,
                Runnable::run,
                LastEnd.CLEAN);
    }

    public void closeWriteAheadFiles() {
        walSyncers.close();
    }

    private static PartitionSettings settings(DeliveryMode mode, JournalConfig journal) {
        return settings(mode, journal, 1, ThrottledReplicas.NONE);
    }

    private static PartitionSettings settings(
            DeliveryMode mode, JournalConfig journal, int minInSyncReplicas, ThrottledReplicas throttled) {
        return new PartitionSettings(
                new AppendSettings(BatchRules.DEFAULT, null, mode, 1), 1, true, journal, minInSyncReplicas, throttled);
    }

    /** Opens another partition of the topic on the same loop, with the same replicas. */
    public PartitionHost openAnother(int number) throws IOException {
        PartitionSettings settings = settings(mode, JournalConfig.DEFAULT, minInSyncReplicas, throttled);
        RecoveredPartition recovered = files.open(new TopicPartition("t", number), TOPIC_ID, settings, 0, true);
        return new PartitionHost(resources, recovered, new TopicCounters(1), settings, replicas);
    }

    /** Changes the replicas to which {@link #throttles} apply. */
    public void setThrottled(ThrottledReplicas newThrottled) {
        throttled = newThrottled;
        update();
    }

    /** The throttles of the broker. */
    public ReplicationThrottle.Directions throttles() {
        return throttles;
    }

    /** Changes the topic's configuration. */
    public void setMode(DeliveryMode newMode) {
        mode = newMode;
        update();
    }

    /** Changes the partition's replicas, and how many of them must be in sync. */
    public void setReplicas(int newMinInSyncReplicas, ReplicaSet newReplicas) {
        minInSyncReplicas = newMinInSyncReplicas;
        replicas = newReplicas;
        update();
    }

    /** Sets whether brokers that have led run when another one is elected. */
    public void setLastLeaderLives(boolean lives) {
        lastLeaderLives = lives;
    }

    private void update() {
        host.update(settings(mode, host.journal().config(), minInSyncReplicas, throttled), replicas, lastLeaderLives);
        loop.run();
    }

    /** The directory of a partition in {@code directory}. */
    public static Path directory(Path directory) {
        return directory.resolve(TOPIC_ID + "-0");
    }

    public PartitionHost host() {
        return host;
    }

    public SteppedLoop loop() {
        return loop;
    }

    /** The cycle of the loop. */
    public LoopCycle cycle() {
        return cycle;
    }

    /** Sets what the senders of later appends wait for, and for how long. */
    public void setAcks(RequiredAcks newAcks, int newTimeoutMs) {
        acks = newAcks;
        timeoutMs = newTimeoutMs;
    }

    /** All clients disconnect, so that no append is awaited any more. */
    public void clientsLeave() {
        awaited = false;
    }

    public PartitionDurability durability() {
        return host.durability();
    }

    public Flusher flusher() {
        return flusher;
    }

    public LoopCounters counters() {
        return counters;
    }

    /** Closes the partition like a broker that is stopped. */
    public void closeCleanly() {
        host.close();
        loop.run();
        host.closeJournal();
    }

    /** Stages a batch of one record for each value; {@link SteppedLoop#run} writes it. */
    public Outcome stage(long producerId, short epoch, int sequence, boolean transactional, String... values) {
        return stage(CompressionCodec.NONE, producerId, epoch, sequence, transactional, values);
    }

    public Outcome stage(
            CompressionCodec codec,
            long producerId,
            short epoch,
            int sequence,
            boolean transactional,
            String... values) {
        long guard = transactional ? guards.guard() : VerificationGuards.NOT_VERIFIED;
        return stage(guard, codec, producerId, epoch, sequence, transactional, values);
    }

    /** A guard for a verification that begins now. */
    public long guard() {
        return guards.guard();
    }

    /** Appends a transactional batch whose verification began when {@code guard} was taken. */
    public Outcome appendVerified(long guard, long producerId, short epoch, int sequence, String... values) {
        Outcome outcome = stage(guard, CompressionCodec.NONE, producerId, epoch, sequence, true, values);
        loop.run();
        return outcome;
    }

    private Outcome stage(
            long guard,
            CompressionCodec codec,
            long producerId,
            short epoch,
            int sequence,
            boolean transactional,
            String... values) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, codec)) {
            for (String value : values) {
                builder.append(System.currentTimeMillis(), null, value.getBytes(StandardCharsets.UTF_8), List.of());
            }
            builder.setProducerState(producerId, epoch, sequence, transactional);
            Outcome outcome = new Outcome();
            ByteBuf batch = builder.build();
            host.append(new Append(batch, PRODUCE_VERSION, guard, acks, timeoutMs) {
                @Override
                protected boolean isAwaited() {
                    return awaited;
                }

                @Override
                protected void onDecided() {
                    batch.release();
                    outcome.error = error();
                    outcome.offset = baseOffset();
                    outcome.limit = limit();
                }
            });
            return outcome;
        }
    }

    public Outcome append(long producerId, short epoch, int sequence, boolean transactional, String... values) {
        Outcome outcome = stage(producerId, epoch, sequence, transactional, values);
        loop.run();
        return outcome;
    }

    public Outcome stageMarker(long producerId, short epoch, boolean commit) {
        Outcome outcome = new Outcome();
        TransactionMarker marker = new TransactionMarker(producerId, epoch, commit, 0);
        host.append(new MarkerAppend(marker, TRANSACTION_VERSION) {
            @Override
            protected void onDecided() {
                outcome.error = error();
                outcome.offset = baseOffset();
            }
        });
        return outcome;
    }

    public Outcome mark(long producerId, short epoch, boolean commit) {
        Outcome outcome = stageMarker(producerId, epoch, commit);
        loop.run();
        return outcome;
    }

    /** Deletes everything before {@code offset}, and waits until that is safe. */
    public ErrorCode deleteRecordsBefore(long offset) {
        ErrorCode[] outcome = new ErrorCode[1];
        host.deleteRecordsBefore(offset, 0, error -> outcome[0] = error);
        loop.run();
        return outcome[0];
    }

    /**
     * The values that a read-committed consumer sees from {@code fromOffset} on, reading {@code maxSizeBytes} at a
     * time.
     */
    public List<String> readCommitted(long fromOffset, int maxSizeBytes) throws IOException {
        List<String> seen = new ArrayList<>();
        long next = fromOffset;
        while (next < host.log().lastStableOffset()) {
            PartitionRead read = host.read(next, -1, -1, maxSizeBytes, true, true);
            if (read.error() != ErrorCode.NONE || read.slice() == null) {
                throw new AssertionError("cannot read at " + next + ": " + read.error());
            }
            JournalSlice loaded = read.slice().load();
            ByteBuf records = loaded.readFully(UnpooledByteBufAllocator.DEFAULT);
            next = filter(records, next, read.aborted().find(loaded.offsetLimit()), seen);
            records.release();
        }
        return seen;
    }

    /** As clients do: skips a producer's records from a transaction's first offset up to its abort marker. */
    private static long filter(ByteBuf records, long from, List<AbortedTransaction> aborted, List<String> seen) {
        Set<Long> abortedProducers = new HashSet<>();
        Set<AbortedTransaction> told = new HashSet<>();
        long next = from;
        try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT)) {
            reader.reset(records);
            while (reader.nextBatch()) {
                next = reader.nextOffset();
                for (AbortedTransaction transaction : aborted) {
                    // Used once, at the first batch at or behind its first offset.
                    if (transaction.firstOffset() < next && told.add(transaction)) {
                        abortedProducers.add(transaction.producerId());
                    }
                }
                if (reader.isControlBatch()) {
                    if (!TransactionMarker.read(records, reader.batchIndex()).commit()) {
                        abortedProducers.remove(reader.producerId());
                    }
                } else if (!reader.isTransactional() || !abortedProducers.contains(reader.producerId())) {
                    while (reader.next()) {
                        if (reader.offset() >= from) {
                            seen.add(reader.value().toString(StandardCharsets.UTF_8));
                        }
                    }
                }
            }
        }
        return next;
    }
}
