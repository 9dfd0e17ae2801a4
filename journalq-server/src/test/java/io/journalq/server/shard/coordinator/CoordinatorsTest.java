package io.journalq.server.shard.coordinator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.Message;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.message.OffsetForLeaderEpochResponse;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.coordinator.RecordTypes;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.journal.FaultyFileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.record.ConfigRecord;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.PartitionsRecord.PartitionState;
import io.journalq.server.metadata.record.RemoveTopicRecord;
import io.journalq.server.metadata.record.TopicRecord;
import io.journalq.server.peer.PeerChannel;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.CoordinatorKind.Step;
import io.journalq.server.shard.coordinator.Coordinators.CoordinatorResources;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.store.CoordinatorSlice;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Hosts with a machine that stores names by number. */
class CoordinatorsTest {
    private static final int LIMIT_SECONDS = 30;
    private static final int RELOAD_DELAY_MS = 500;
    private static final int POOL_THREADS = 4;
    private static final String DUE = "due";
    private static final RecordTypes TYPES = RecordTypes.of(new RecordTypes.Type(
            (short) 0, RemoveTopicRecord.class, RemoveTopicRecord::read, TopicRecord::read, (short) 0));

    @TempDir
    Path directory;

    private final ExecutorService blockingPool = Executors.newFixedThreadPool(POOL_THREADS);
    private final FaultyFileStore disk = new FaultyFileStore(new SystemFileStore());
    private CoordinatorSlice.Provider slices = CoordinatorSlice.Provider.NONE;
    /** Whether replaying the records fails. */
    private volatile boolean impossible;

    private final AtomicInteger failures = new AtomicInteger();

    /** The topic has a replica on each. */
    private int brokers = 1;

    private final AdjustableClock clock = new AdjustableClock();
    private final AtomicInteger clockSteps = new AtomicInteger();
    private boolean setWhileLoading;

    private EventLoops loops;
    private MetadataMachine metadata;
    private Shards shards;
    private Coordinators<Names> coordinators;
    /** The requests that ask the other broker whether it leads. */
    private final BlockingQueue<PeerChannel.ResponseListener> asked = new LinkedBlockingQueue<>();
    /** Whether the other broker responds by itself that this one leads. */
    private volatile boolean confirms;

    /** A connection to the other broker. */
    private final class Channel implements PeerChannel {
        @Override
        public void send(ApiMessage request, int version, int timeoutMs, ResponseListener listener) {
            if (confirms) {
                loops.cycles().get(0).enqueue(() -> listener.onResponse(response(ErrorCode.NONE)));
            } else {
                asked.add(listener);
            }
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    /** The clock of the system, which can be set. */
    private static final class AdjustableClock extends Clock {
        private volatile Duration offset = Duration.ZERO;

        @Override
        public Instant instant() {
            return Clock.systemUTC().instant().plus(offset);
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    }

    /** The machine. */
    private final class Names implements CoordinatorMachine {
        private final Outbox outbox;
        private final Map<String, String> names = new TreeMap<>();
        private final List<Reply<String>> waiting = new ArrayList<>();
        private long wakeAtMs = NEVER;
        /** Appended by the next tick after the machine was loaded; null for nothing. */
        private String due;

        private int ticks;

        Names(Outbox outbox) {
            this.outbox = outbox;
            if (setWhileLoading) {
                clock.offset = Duration.ofHours(1);
            }
        }

        void put(long number, String name, Reply<String> reply) {
            outbox.append(List.of(record(number, name)));
            reply.send(names.get(new Uuid(0, number).toString()));
        }

        private CoordinatorRecord record(long number, String name) {
            Message key = new RemoveTopicRecord().setTopicId(new Uuid(0, number));
            return name == null
                    ? CoordinatorRecord.tombstone(key)
                    : new CoordinatorRecord(
                            key,
                            new TopicRecord().setTopicId(new Uuid(0, number)).setName(name));
        }

        @Override
        public void replay(CoordinatorRecord record) {
            if (impossible) {
                failures.incrementAndGet();
                throw new IllegalStateException("records that contradict each other");
            }
            String number = ((RemoveTopicRecord) record.key()).topicId().toString();
            if (record.value() == null) {
                names.remove(number);
            } else {
                names.put(number, ((TopicRecord) record.value()).name());
            }
        }

        @Override
        public void onLoaded(long nowMs) {
            due = names.containsValue(DUE) ? "late" : null;
        }

        @Override
        public long onTick(long nowMs) {
            if (due != null) {
                outbox.append(List.of(record(100, due)));
                due = null;
            }
            if (nowMs >= wakeAtMs) {
                wakeAtMs = NEVER;
                ticks++;
                waiting.forEach(reply -> reply.send("tick " + ticks));
                waiting.clear();
            }
            return wakeAtMs;
        }

        @Override
        public void onClockStep(long stepMs) {
            clockSteps.incrementAndGet();
            wakeAtMs += stepMs;
        }
    }

    @AfterEach
    void stop() throws Exception {
        close();
        blockingPool.shutdown();
    }

    private void close() {
        if (loops != null) {
            coordinators.close().join();
            shards.close().join();
            loops.close();
            loops = null;
        }
    }

    private void start(String mode) throws Exception {
        startLoading(mode);
        awaitLoaded();
    }

    private void startLoading(String mode) throws Exception {
        create(mode);
        open();
    }

    private void open() {
        MetadataDelta all = MetadataDelta.ofAll(metadata.image());
        shards.partitions().open(all).join();
        var unused = coordinators.follow(all);
    }

    private void create(String mode) throws Exception {
        BrokerConfig config = BrokerConfig.defaults()
                .with("data.directories", directory.toString(), ConfigOrigin.COMMAND_LINE)
                .with("delivery.mode", mode, ConfigOrigin.COMMAND_LINE);
        loops = new EventLoops(2);
        shards = new Shards(
                config, loops.cycles(), disk, blockingPool, Clock.systemUTC(), Map.of(), MemoryAccount.UNBOUNDED);
        coordinators = new Coordinators<>(
                new CoordinatorKind<>(InternalTopics.GROUPS, TYPES, (partition, outbox) -> new Names(outbox)),
                new CoordinatorResources(
                        shards,
                        blockingPool,
                        clock,
                        slices,
                        new PeerRequests(loops.cycles().get(0), broker -> new Channel())),
                (partition, machine) -> {});
        metadata = metadata();
    }

    private MetadataMachine metadata() {
        MetadataMachine created = new MetadataMachine(new MetadataMachine.Limits(0, 1, 100, 100));
        created.replay(created.format(new Uuid(1, 1)).records());
        for (int broker = 0; broker < brokers; broker++) {
            TestBrokers.register(created, broker);
        }
        created.replay(
                created.createTopic(InternalTopics.groups(3, 0), new Uuid(7, 7)).records());
        return created;
    }

    private void awaitLoaded() throws Exception {
        for (int key = 0; key < 20; key++) {
            String name = "key" + key;
            await(() -> isLoaded(name));
        }
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    private static void await(Condition condition) throws Exception {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!condition.holds()) {
            assertThat(System.nanoTime()).isLessThan(deadlineNanos);
            Thread.sleep(5);
        }
    }

    private boolean isLoaded(String key) throws Exception {
        try {
            run(key, (machine, nowMs, replies) -> {});
            return true;
        } catch (ExecutionException loading) {
            return false;
        }
    }

    /** Fails at once while the machine is loading; completes once the step has run. */
    private CompletableFuture<Void> ask(String key, Step<Names> step) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        coordinators.submit(
                key,
                (machine, nowMs, replies) -> {
                    step.run(machine, nowMs, replies);
                    done.complete(null);
                },
                error -> done.completeExceptionally(new IllegalStateException(error.name())));
        return done;
    }

    private void run(String key, Step<Names> step) throws Exception {
        ask(key, step).get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    private CompletableFuture<String> put(String key, long number, String name) {
        CompletableFuture<String> response = new CompletableFuture<>();
        coordinators.submit(
                key,
                (machine, nowMs, replies) -> machine.put(number, name, replyTo(replies, response)),
                error -> response.completeExceptionally(new IllegalStateException(error.name())));
        return response;
    }

    private static Reply<String> replyTo(Replies replies, CompletableFuture<String> response) {
        return replies.to(
                response::complete, error -> response.completeExceptionally(new IllegalStateException(error.name())));
    }

    private Map<String, String> namesOf(String key) throws Exception {
        Map<String, String> copy = new TreeMap<>();
        run(key, (machine, nowMs, replies) -> copy.putAll(machine.names));
        return copy;
    }

    @Test
    void shouldKeepNoStateInMemoryWhenAnotherBrokerLeads() throws Exception {
        // given a coordinator with a record
        start("eventual");
        put("key", 1, "one").get(LIMIT_SECONDS, TimeUnit.SECONDS);
        AtomicReference<WeakReference<Names>> machine = new AtomicReference<>();
        run("key", (names, nowMs, replies) -> machine.set(new WeakReference<>(names)));

        // when
        lead(coordinators.partitionOf("key"), 1);

        // then
        await(() -> {
            System.gc();
            return machine.get().get() == null;
        });
    }

    @Test
    void shouldServeOnlyThePartitionsThatItsBrokerLeads() throws Exception {
        // given a coordinator with a record
        start("eventual");
        put("key", 1, "one").get(LIMIT_SECONDS, TimeUnit.SECONDS);
        int partition = coordinators.partitionOf("key");

        // when another broker leads its partition
        lead(partition, 1);

        // then it is not here, and the others still are
        assertThatThrownBy(() -> run("key", (machine, nowMs, replies) -> {})).hasMessageContaining("NOT_COORDINATOR");
        coordinators.whenAllLoaded(List.of("key")).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertThat(coordinators.count()).isEqualTo(3);
        assertThat(isLoaded(keyOutside(partition))).isTrue();

        // and when this broker leads it again, it remembers
        lead(partition, 0);
        await(() -> isLoaded("key"));
        assertThat(namesOf("key")).containsValue("one");
    }

    private void lead(int partition, int leader) {
        PartitionState state = new PartitionState()
                .setLeader(leader)
                .setReplicas(List.of(0, 1))
                .setInSyncReplicas(List.of(0, 1));
        PartitionsRecord record = new PartitionsRecord()
                .setTopicId(metadata.image().topic(InternalTopics.GROUPS).id())
                .setFirstPartition(partition)
                .setPartitions(List.of(state));
        coordinators.follow(metadata.replay(List.of(record))).join();
    }

    @Test
    void shouldRespondWhenEveryInSyncReplicaHasTheRecords() throws Exception {
        // given a coordinator whose partition has another replica in sync
        int partition = startReplicated();

        // when it appends, and the record is written here
        CompletableFuture<String> response = put("key", 1, "one");
        await(() -> endOf(partition) == 1);

        // then it responds only after the other replica has the record too
        run("key", (machine, nowMs, replies) -> {});
        assertThat(response).isNotDone();
        acknowledge(partition);
        assertThat(response.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo("one");
    }

    @Test
    void shouldServeWhenWhatItFoundIsOnEveryInSyncReplica() throws Exception {
        // given a coordinator with a record that the other replica does not have
        int partition = startReplicated();
        CompletableFuture<String> response = put("key", 1, "one");
        await(() -> endOf(partition) == 1);

        // when the other broker leads
        moveTo(partition, 1, 2);

        // then clients ask there
        assertThatThrownBy(() -> response.get(LIMIT_SECONDS, TimeUnit.SECONDS)).hasMessageContaining("NOT_COORDINATOR");

        // and when this broker leads again, it loads until the other replica has the record
        confirms = true;
        moveTo(partition, 0, 3);
        Thread.sleep(50);
        assertThatThrownBy(() -> run("key", (machine, nowMs, replies) -> {}))
                .hasMessageContaining(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.name());
        acknowledge(partition);
        await(() -> isLoaded("key"));
        assertThat(namesOf("key")).containsValue("one");
    }

    @Test
    void shouldReadOnlyWhenTheOtherBrokerKnowsNoLaterLeader() throws Exception {
        // given a coordinator whose partition has another replica in sync
        int partition = startReplicated();

        // when a client reads
        CompletableFuture<Void> read = read();
        PeerChannel.ResponseListener other = asked.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
        run("key", (machine, nowMs, replies) -> {});
        assertThat(read).isNotDone();

        // then the other broker decides
        other.onResponse(response(ErrorCode.NONE));
        read.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        CompletableFuture<Void> late = read();
        asked.poll(LIMIT_SECONDS, TimeUnit.SECONDS).onResponse(response(ErrorCode.FENCED_LEADER_EPOCH));
        assertThatThrownBy(() -> late.get(LIMIT_SECONDS, TimeUnit.SECONDS)).hasMessageContaining("NOT_COORDINATOR");

        // and a read that waits for its response fails when the other broker leads
        CompletableFuture<Void> waiting = read();
        moveTo(partition, 1, 2);
        assertThatThrownBy(() -> waiting.get(LIMIT_SECONDS, TimeUnit.SECONDS)).hasMessageContaining("NOT_COORDINATOR");
    }

    @Test // seed 900703 of 3 brokers
    void shouldBeginOnlyWhenTheOtherBrokerKnowsNoLaterLeader() throws Exception {
        // given a coordinator with a record that both replicas have, and then another leader
        int partition = startReplicated();
        CompletableFuture<String> response = put("key", 1, DUE);
        await(() -> endOf(partition) == 1);
        acknowledge(partition);
        response.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        moveTo(partition, 1, 2);

        // when this broker leads again, and has everything, but the other one knows a later leader
        moveTo(partition, 0, 3);
        acknowledge(partition);
        asked.poll(LIMIT_SECONDS, TimeUnit.SECONDS).onResponse(response(ErrorCode.FENCED_LEADER_EPOCH));

        // then it does nothing, until the other broker knows none
        PeerChannel.ResponseListener again = asked.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertThatThrownBy(() -> run("key", (machine, nowMs, replies) -> {}))
                .hasMessageContaining(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.name());
        assertThat(endOf(partition)).isEqualTo(1);
        again.onResponse(response(ErrorCode.NONE));
        await(() -> isDone("key"));
    }

    private CompletableFuture<Void> read() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        coordinators.submitConfirmed(
                "key",
                (machine, nowMs, replies) -> done.complete(null),
                error -> done.completeExceptionally(new IllegalStateException(error.name())));
        return done;
    }

    private static OffsetForLeaderEpochResponse response(ErrorCode error) {
        return new OffsetForLeaderEpochResponse()
                .setTopics(List.of(new OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult()
                        .setPartitions(List.of(
                                new OffsetForLeaderEpochResponse.EpochEndOffset().setErrorCode(error.code())))));
    }

    /** Returns the partition of "key", which this broker leads. */
    private int startReplicated() throws Exception {
        brokers = 2;
        startLoading("eventual");
        int partition = coordinators.partitionOf("key");
        moveTo(partition, 0, 1);
        await(() -> isLoaded("key"));
        return partition;
    }

    private void moveTo(int partition, int leader, int leaderEpoch) {
        change(
                partition,
                new PartitionState()
                        .setLeader(leader)
                        .setLeaderEpoch(leaderEpoch)
                        .setReplicas(List.of(0, 1))
                        .setInSyncReplicas(List.of(0, 1)));
    }

    /** In the first leader epoch of this broker. */
    private void setInSync(int partition, int partitionEpoch, Integer... inSync) {
        change(
                partition,
                new PartitionState()
                        .setLeader(0)
                        .setLeaderEpoch(1)
                        .setPartitionEpoch(partitionEpoch)
                        .setReplicas(List.of(0, 1))
                        .setInSyncReplicas(List.of(inSync)));
    }

    private void change(int partition, PartitionState state) {
        PartitionsRecord record = new PartitionsRecord()
                .setTopicId(metadata.image().topic(InternalTopics.GROUPS).id())
                .setFirstPartition(partition)
                .setPartitions(List.of(state));
        MetadataDelta delta = metadata.replay(List.of(record));
        shards.partitions().open(delta).join();
        coordinators.follow(delta).join();
    }

    /** The other replica fetches from the end on. */
    private void acknowledge(int partition) {
        onHost(partition, host -> host.replication()
                .readAsReplica(1, 1, host.replica().endOffset(), host.leaderEpoch(), -1, 1 << 20, true));
    }

    private long endOf(int partition) {
        return onHost(partition, host -> host.replica().endOffset());
    }

    private <T> T onHost(int partition, Function<PartitionHost, T> action) {
        Uuid topic = metadata.image().topic(InternalTopics.GROUPS).id();
        Shard shard = shards.shardOf(topic, partition);
        return shard.cycle()
                .ask(() -> action.apply(shard.host(topic, partition)))
                .join();
    }

    private String keyOutside(int partition) {
        int number = 0;
        while (coordinators.partitionOf("key" + number) == partition) {
            number++;
        }
        return "key" + number;
    }

    @Test
    void shouldLoadAtOnceWhenItsPartitionHasOpened() throws Exception {
        // given a topic whose partitions cannot be opened yet
        CountDownLatch hold = new CountDownLatch(1);
        for (int thread = 0; thread < POOL_THREADS; thread++) {
            blockingPool.execute(() -> awaitQuietly(hold));
        }
        create("eventual");
        MetadataDelta all = MetadataDelta.ofAll(metadata.image());
        CompletableFuture<Void> opened = shards.partitions().open(all);

        // when the coordinators follow
        CompletableFuture<Void> loaded = coordinators.follow(all);

        // then they are loading until the partitions are open
        assertThatThrownBy(() -> run("key", (machine, nowMs, replies) -> {}))
                .hasMessageContaining(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.name());
        assertThat(loaded).isNotDone();
        hold.countDown();
        opened.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        loaded.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertThat(isLoaded("key")).isTrue();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldRememberAcknowledgedChangesWhenItIsRestarted() throws Exception {
        for (String mode : List.of("eventual", "consistent")) {
            start(mode);
            for (int key = 0; key < 20; key++) {
                assertThat(put("key" + key, key, mode + key).get(LIMIT_SECONDS, TimeUnit.SECONDS))
                        .isEqualTo(mode + key);
            }
            put("key3", 3, null).get(LIMIT_SECONDS, TimeUnit.SECONDS);
            close();

            start(mode);
            for (int key = 0; key < 20; key++) {
                String expected = key == 3 ? null : mode + key;
                assertThat(namesOf("key" + key).get(new Uuid(0, key).toString()))
                        .isEqualTo(expected);
            }
            close();
        }
    }

    @Test
    void shouldFailItsRepliesAndForgetWhatWasNotWrittenWhenTheDiskFails() throws Exception {
        start("eventual");
        put("key", 1, "kept").get(LIMIT_SECONDS, TimeUnit.SECONDS);
        CompletableFuture<String> waiting = new CompletableFuture<>();
        run("key", (machine, nowMs, replies) -> machine.waiting.add(replyTo(replies, waiting)));

        // when the disk is full
        disk.setFull(true);
        assertThatThrownBy(() -> put("key", 2, "lost").get(LIMIT_SECONDS, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining(ErrorCode.COORDINATOR_NOT_AVAILABLE.name());
        assertThatThrownBy(() -> waiting.get(LIMIT_SECONDS, TimeUnit.SECONDS))
                .hasMessageContaining(ErrorCode.COORDINATOR_NOT_AVAILABLE.name());

        // then it is loaded again as it was written, and continues when there is room
        disk.setFull(false);
        awaitLoaded();
        assertThat(namesOf("key")).containsOnlyKeys(new Uuid(0, 1).toString());
        assertThat(put("key", 3, "new").get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo("new");
    }

    @Test
    void shouldEndAStepOnItsOwnChangesWhenItsRecordsAreRefusedAtOnce() throws Exception {
        // given a partition whose files were lost
        start("eventual");
        shards.takeOffline(directory, new IOException("gone")).get(LIMIT_SECONDS, TimeUnit.SECONDS);

        // when a step appends twice
        Map<String, String> seen = new TreeMap<>();
        CompletableFuture<String> response = new CompletableFuture<>();
        run("key", (machine, nowMs, replies) -> {
            machine.put(1, "first", replyTo(replies, response));
            machine.put(2, "second", replyTo(replies, new CompletableFuture<>()));
            seen.putAll(machine.names);
        });

        // then the second change builds on the first, and neither is confirmed
        assertThat(seen.values()).containsExactly("first", "second");
        assertThatThrownBy(() -> response.get(LIMIT_SECONDS, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining(ErrorCode.COORDINATOR_NOT_AVAILABLE.name());
    }

    @Test
    void shouldAppendNothingOfAStepWhoseRecordsCannotBeEncoded() throws Exception {
        start("eventual");
        int maxBytes = MessageReader.MAX_STRING_SIZE_BYTES;

        // when the second record of an append is too large
        coordinators.submit(
                "key",
                (machine, nowMs, replies) -> machine.outbox.append(
                        List.of(machine.record(1, "refused"), machine.record(2, "x".repeat(maxBytes + 1)))),
                error -> {});
        assertThat(put("key", 3, "kept").get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo("kept");

        // then the first one is not appended with the next one
        close();
        start("eventual");
        assertThat(namesOf("key").values()).containsExactly("kept");
    }

    @Test
    void shouldLogOnceWhyItCannotBeLoadedWhenItTriesAgainAndAgain() throws Exception {
        // given
        start("eventual");
        Logger logger = (Logger) LoggerFactory.getLogger(CoordinatorHost.class);
        Level before = logger.getLevel();
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        logger.setLevel(Level.ERROR);
        try {
            // when the machine is lost with its partition's files, and there is time for three attempts
            shards.takeOffline(directory, new IOException("gone")).get(LIMIT_SECONDS, TimeUnit.SECONDS);
            put("key", 1, "lost").exceptionally(refused -> null).get(LIMIT_SECONDS, TimeUnit.SECONDS);
            Thread.sleep(4 * RELOAD_DELAY_MS);
        } finally {
            logger.detachAppender(logged);
            logger.setLevel(before);
        }

        // then
        assertThat(List.copyOf(logged.list))
                .filteredOn(event -> event.getFormattedMessage().startsWith("cannot load a coordinator"))
                .hasSize(1);
    }

    @Test
    void shouldServeWhenWhatIsDueCannotBeWritten() throws Exception {
        // given a machine that appends as soon as it is loaded
        start("eventual");
        put("key", 1, DUE).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        disk.setFull(true);
        assertThatThrownBy(() -> put("key", 2, "lost").get(LIMIT_SECONDS, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class);

        // then it is loaded again, and serves its state
        await(() -> isLoaded("key"));
        assertThat(namesOf("key")).containsOnlyKeys(new Uuid(0, 1).toString());

        // and the due work is done when there is room
        disk.setFull(false);
        await(() -> isDone("key"));
    }

    @Test // seed 510115 of 5 brokers
    void shouldDoWhatIsDueAsSoonAsAnAppendSucceeds() throws Exception {
        // given a machine whose timers pause for 8 s, because five appends have failed
        start("eventual");
        put("key", 1, DUE).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        disk.setFull(true);
        for (int i = 0; i < 5; i++) {
            await(() -> isLoaded("key"));
            assertThatThrownBy(() -> put("key", 2, "lost").get(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class);
        }
        await(() -> isLoaded("key"));

        // when an append succeeds
        disk.setFull(false);
        long beganNanos = System.nanoTime();
        put("key", 3, "new").get(LIMIT_SECONDS, TimeUnit.SECONDS);

        // then
        await(() -> isDone("key"));
        assertThat(System.nanoTime() - beganNanos).isLessThan(TimeUnit.SECONDS.toNanos(6));
    }

    @Test // seed 750934 of 3 brokers
    void shouldDoWhatIsDueAsSoonAsEnoughReplicasAreInSync() throws Exception {
        // given a machine whose timers pause for 8 s, because five appends have found too few replicas in sync
        brokers = 2;
        confirms = true;
        create("eventual");
        metadata.replay(List.of(new ConfigRecord()
                .setTopicId(metadata.image().topic(InternalTopics.GROUPS).id())
                .setName("min.insync.replicas")
                .setValue("2")));
        open();
        int partition = coordinators.partitionOf("key");
        moveTo(partition, 0, 1);
        await(() -> isLoaded("key"));
        CompletableFuture<String> due = put("key", 1, DUE);
        await(() -> endOf(partition) == 1);
        acknowledge(partition);
        due.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        setInSync(partition, 2, 0);
        for (int i = 0; i < 5; i++) {
            await(() -> isLoaded("key"));
            assertThatThrownBy(() -> put("key", 2, "lost").get(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class);
        }
        await(() -> isLoaded("key"));

        // when the other replica is in sync again
        long beganNanos = System.nanoTime();
        setInSync(partition, 3, 0, 1);

        // then
        await(() -> isDone("key"));
        assertThat(System.nanoTime() - beganNanos).isLessThan(TimeUnit.SECONDS.toNanos(6));
    }

    private boolean isDone(String key) throws Exception {
        try {
            return namesOf(key).containsValue("late");
        } catch (ExecutionException loading) {
            return false;
        }
    }

    @Test // found by the fuzzing target coordinator-records
    void shouldTryAgainWhenRecordsCannotBeReplayed() throws Exception {
        // given
        start("eventual");
        put("key", 1, "kept").get(LIMIT_SECONDS, TimeUnit.SECONDS);
        close();

        // when
        impossible = true;
        startLoading("eventual");
        await(() -> failures.get() > 1);
        impossible = false;

        // then
        awaitLoaded();
        assertThat(namesOf("key")).containsValue("kept");
    }

    @Test // seed 73017386
    void shouldNotUseStateThatIsAheadOfItsJournalAndCannotBeWiped() throws Exception {
        // given
        Map<Integer, StaleSlice> stale = new ConcurrentHashMap<>();
        slices = (topicId, partition) -> stale.computeIfAbsent(partition, unused -> new StaleSlice());

        // when
        start("eventual");

        // then the deletion was retried until it succeeded
        assertThat(stale.values()).hasSize(3).allSatisfy(slice -> assertThat(slice.wipes)
                .hasValue(StaleSlice.WIPES_THAT_FAIL + 1));
    }

    @Test
    void shouldNotUseStateThatAnEarlierCoordinatorOfItsPartitionStillWrites() throws Exception {
        // given a coordinator whose state is being stored
        Map<Integer, SlowSlice> stored = new ConcurrentHashMap<>();
        slices = (topicId, partition) -> stored.computeIfAbsent(partition, unused -> new SlowSlice());
        start("eventual");
        int partition = coordinators.partitionOf("key");
        SlowSlice slice = stored.get(partition);
        slice.holdNext.set(true);
        put("key", 1, "old").get(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertThat(slice.held.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();

        // when the partition moves away and back
        lead(partition, 1);
        lead(partition, 0);
        Thread.sleep(2 * RELOAD_DELAY_MS);

        // then the new coordinator waits, because the old write would replace newer state
        assertThat(slice.overlaps).hasValue(0);
        assertThat(isLoaded("key")).isFalse();

        // and it loads and stores when that write has ended
        slice.release.countDown();
        await(() -> isLoaded("key"));
        put("key", 1, "new").get(LIMIT_SECONDS, TimeUnit.SECONDS);
        await(() -> slice.names().contains("new"));
        assertThat(slice.overlaps).hasValue(0);
    }

    /** Stored state in memory. */
    private static final class SlowSlice implements CoordinatorSlice {
        private final AtomicBoolean holdNext = new AtomicBoolean();
        private final CountDownLatch held = new CountDownLatch(1);
        private final CountDownLatch release = new CountDownLatch(1);
        private final AtomicInteger users = new AtomicInteger();
        private final AtomicInteger overlaps = new AtomicInteger();
        private final Map<String, byte[][]> records = new ConcurrentHashMap<>();
        private volatile long appliedOffset = NOTHING;

        List<String> names() {
            List<String> names = new ArrayList<>();
            for (byte[][] record : records.values()) {
                names.add(((TopicRecord)
                                TYPES.decode(Unpooled.wrappedBuffer(record[0]), Unpooled.wrappedBuffer(record[1]))
                                        .value())
                        .name());
            }
            return names;
        }

        @Override
        public long appliedOffset() {
            if (users.get() > 0) {
                overlaps.incrementAndGet();
            }
            return appliedOffset;
        }

        @Override
        public int appliedEpoch() {
            return UNKNOWN_EPOCH;
        }

        @Override
        public void forEach(Visitor visitor) {
            records.values().forEach(record -> visitor.visit(ByteBuffer.wrap(record[0]), ByteBuffer.wrap(record[1])));
        }

        @Override
        public void apply(List<CoordinatorSlice.Change> changes, long nextAppliedOffset, int epoch) {
            if (users.getAndIncrement() > 0) {
                overlaps.incrementAndGet();
            }
            if (holdNext.compareAndSet(true, false)) {
                held.countDown();
                awaitQuietly(release);
            }
            changes.forEach(
                    change -> records.put(Arrays.toString(change.key()), new byte[][] {change.key(), change.value()}));
            appliedOffset = nextAppliedOffset;
            users.decrementAndGet();
        }

        @Override
        public void wipe() {
            records.clear();
            appliedOffset = NOTHING;
        }
    }

    /** Built from a journal that has lost its tail. */
    private static final class StaleSlice implements CoordinatorSlice {
        private static final int WIPES_THAT_FAIL = 2;

        private volatile long appliedOffset = 1_000;
        private final AtomicInteger wipes = new AtomicInteger();

        @Override
        public long appliedOffset() {
            return appliedOffset;
        }

        @Override
        public int appliedEpoch() {
            return UNKNOWN_EPOCH;
        }

        @Override
        public void forEach(Visitor visitor) {
            // Never called.
        }

        @Override
        public void apply(List<CoordinatorSlice.Change> changes, long nextAppliedOffset, int epoch) {
            appliedOffset = nextAppliedOffset;
        }

        @Override
        public void wipe() throws IOException {
            if (wipes.incrementAndGet() <= WIPES_THAT_FAIL) {
                throw new IOException("Input/output error");
            }
            appliedOffset = NOTHING;
        }
    }

    @Test
    void shouldWakeTheMachineWhenSomethingIsDue() throws Exception {
        start("eventual");
        CompletableFuture<String> waiting = new CompletableFuture<>();

        run("key", (machine, nowMs, replies) -> {
            machine.waiting.add(replyTo(replies, waiting));
            machine.wakeAtMs = nowMs + 30;
        });

        assertThat(waiting.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo("tick 1");
    }

    @Test
    void shouldWakeTheMachineWhenTheClockWasSetBack() throws Exception {
        // given
        start("eventual");
        CompletableFuture<String> waiting = new CompletableFuture<>();
        run("key", (machine, nowMs, replies) -> {
            machine.waiting.add(replyTo(replies, waiting));
            machine.wakeAtMs = nowMs + 300;
        });

        // when
        clock.offset = Duration.ofHours(-1);

        // then
        assertThat(waiting.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo("tick 1");
    }

    @Test
    void shouldMoveNothingWhenTheClockWasSetBeforeTheMachineWasLoaded() throws Exception {
        // given
        setWhileLoading = true;

        // when
        start("eventual");

        // then
        run("key", (machine, nowMs, replies) -> {});
        assertThat(clock.offset).isPositive();
        assertThat(clockSteps).hasValue(0);
    }

    @Test
    void shouldNotWakeTheMachineTooEarlyWhenTheClockWasSetForward() throws Exception {
        // given
        start("eventual");
        run("key", (machine, nowMs, replies) -> machine.wakeAtMs = nowMs + 1_800_000);

        // when
        clock.offset = Duration.ofHours(1);

        // then
        CompletableFuture<Integer> ticks = new CompletableFuture<>();
        run("key", (machine, nowMs, replies) -> assertThat(nowMs).isLessThan(machine.wakeAtMs));
        run("key", (machine, nowMs, replies) -> ticks.complete(machine.ticks));
        assertThat(ticks.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isZero();
    }

    @Test
    void shouldAskEveryMachine() throws Exception {
        start("eventual");
        for (int key = 0; key < 20; key++) {
            put("key" + key, key, "name").get(LIMIT_SECONDS, TimeUnit.SECONDS);
        }
        CompletableFuture<List<Integer>> sizes = new CompletableFuture<>();

        coordinators.gather(
                (machine, nowMs) -> machine.names.size(),
                sizes::complete,
                error -> sizes.completeExceptionally(new IllegalStateException(error.name())));

        assertThat(sizes.get(LIMIT_SECONDS, TimeUnit.SECONDS)).hasSize(3).satisfies(all -> assertThat(
                        all.stream().mapToInt(Integer::intValue).sum())
                .isEqualTo(20));
    }

    @Test
    void shouldTellWhoWaitsWhenItCloses() throws Exception {
        start("eventual");
        CompletableFuture<String> waiting = new CompletableFuture<>();
        run("key", (machine, nowMs, replies) -> machine.waiting.add(replyTo(replies, waiting)));

        coordinators.close().join();

        assertThatThrownBy(() -> waiting.get(LIMIT_SECONDS, TimeUnit.SECONDS))
                .hasMessageContaining(ErrorCode.NOT_COORDINATOR.name());
        CompletableFuture<String> late = put("key", 1, "late");
        assertThatThrownBy(() -> late.get(LIMIT_SECONDS, TimeUnit.SECONDS))
                .hasMessageContaining(ErrorCode.COORDINATOR_NOT_AVAILABLE.name());
    }
}
