package io.journalq.server.shard.coordinator;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.shard.append.Append;
import io.journalq.server.shard.coordinator.CoordinatorKind.CoordinatorLoading;
import io.journalq.server.shard.coordinator.CoordinatorKind.Step;
import io.journalq.server.shard.coordinator.SliceReplay.Extent;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.store.CoordinatorSlice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hosts one machine on the loop of the partition that holds its records: loads it, runs its steps, appends its records,
 * and calls it when something is due. If an append fails, the machine's state is ahead of its journal, so the machine
 * is dropped and loaded again.
 *
 * <p>If the partition has other replicas, only records below the high watermark are loaded, and the machine begins when
 * the high watermark has reached the end of the log: what this leader found there, or what an earlier machine appended,
 * is then on every in-sync replica. It begins only if no other broker leads then, because what it does at once, such as
 * repeating markers of transactions, must not follow from an old state. When another broker leads, the machine is dropped.
 *
 * <p>All methods run on the partition's loop.
 */
final class CoordinatorHost<M extends CoordinatorMachine> {
    private static final Logger log = LoggerFactory.getLogger(CoordinatorHost.class);

    /** Time between a failed load and the next attempt. */
    private static final long RELOAD_DELAY_MS = 500;

    /** Time between two looks whether the other replicas have what a new leader found in its log. */
    private static final long HIGH_WATERMARK_DELAY_MS = 5;

    /** Maximum time for which a newly loaded machine does not run its timers. */
    private static final long LONGEST_PAUSE_MS = 30_000;

    private static final long SHORTEST_TICK_MS = 1;
    private static final long NOT_PAUSED = 0;

    /** Maximum number of steps that wait for the machine; further steps are rejected at once. */
    private static final int MAX_WAITING = 10_000;

    private static final int PRODUCE_VERSION = 12;

    private final CoordinatorKind<M> kind;
    private final Uuid topicId;
    private final TopicPartition name;
    private final LoopCycle cycle;
    private final Supplier<PartitionHost> partitions;
    private final CoordinatorLoading<M> loading;
    private final int nodeId;

    /** The previous host of the partition while it may use the stored state; null if it does not. */
    private CoordinatorHost<M> predecessor;

    /** Whether a load uses the stored state. */
    private boolean replays;

    /** The replay that runs; null if there is none. */
    private JournalReplay journalReplay;

    private final BatchBuilder builder = new BatchBuilder(PooledByteBufAllocator.DEFAULT, CompressionCodec.NONE);

    /** The running machine; null if there is none. */
    private Running running;

    /** Stores the records of the running machine; null before the first. */
    private SliceWriter feed;

    /** Actions that continue once the machine is loaded, or the load has failed for now. */
    private final List<Runnable> waiting = new ArrayList<>();

    /**
     * How long the next machine does not run its timers, because they may append. The pause grows while appends fail, and
     * ends when one succeeds, or when enough replicas are in sync if that was missing. In the meantime the machine can serve
     * reads, instead of being dropped again at once.
     */
    private long pauseMs;

    /** The failure of the last load, so that it is logged only once; null after a success. */
    private String loggedFailure;

    /** The error of the last append, so that it is logged only once; NONE after a success. */
    private ErrorCode lastError = ErrorCode.NONE;

    private boolean closed;

    /**
     * Creates a host; {@link #load} starts it.
     *
     * @param partitions returns the partition's host, or null while there is none
     * @param nodeId this broker
     * @param predecessor the host that had the partition before, which is closed; null if there was none
     */
    CoordinatorHost(
            CoordinatorKind<M> kind,
            Uuid topicId,
            TopicPartition name,
            LoopCycle cycle,
            Supplier<PartitionHost> partitions,
            CoordinatorLoading<M> loading,
            int nodeId,
            CoordinatorHost<M> predecessor) {
        this.kind = kind;
        this.topicId = topicId;
        this.name = name;
        this.cycle = cycle;
        this.partitions = partitions;
        this.loading = loading;
        this.nodeId = nodeId;
        this.predecessor = predecessor;
    }

    LoopCycle cycle() {
        return cycle;
    }

    /** Id of its topic. Any thread. */
    Uuid topicId() {
        return topicId;
    }

    /** Number of its partition. Any thread. */
    int partition() {
        return name.partition();
    }

    /** Loads the machine, with retries until it succeeds or the host is closed. */
    void load() {
        if (closed) {
            return;
        }
        PartitionHost partition = partitions.get();
        if (partition == null || partition.isClosed() || usesSlice()) {
            loadLater();
            return;
        }
        Extent journal = new Extent(
                partition.log().startOffset(),
                partition.journal().compactedOffset(),
                partition.isReplicated()
                        ? partition.log().endOffset()
                        : partition.log().highWatermark(),
                partition.journal().epochs());
        replays = true;
        try {
            loading.loadingPool().execute(() -> {
                try {
                    loadSlice(partition, journal);
                } catch (RuntimeException | OutOfMemoryError failure) {
                    log.error("cannot load a coordinator's stored state: partition={}", name, failure);
                    loadAgain();
                }
            });
        } catch (RejectedExecutionException overloaded) {
            replays = false;
            loadLater();
        }
    }

    /**
     * Whether another thread may use the stored state, also after {@link #close}: an old write that came behind the
     * writes of the next host would mix two states.
     */
    private boolean usesSlice() {
        if (predecessor != null && !predecessor.usesSlice()) {
            predecessor = null;
        }
        return replays || (feed != null && feed.isWriting()) || predecessor != null;
    }

    /** Replays the stored state first. In the blocking pool. */
    private void loadSlice(PartitionHost partition, Extent journal) {
        CoordinatorSlice slice = loading.slices().slice(topicId, name.partition());
        Running next = new Running(partition);
        M machine = kind.factory().create(name.partition(), next);
        long appliedOffset;
        try {
            appliedOffset = SliceReplay.replay(slice, journal, kind.types(), machine);
        } catch (IOException | RuntimeException useless) {
            log.warn("rebuilding a coordinator's stored state from its journal: partition={}", name, useless);
            if (!SliceWriter.wipe(slice, name)) {
                loadAgain();
                return;
            }
            appliedOffset = CoordinatorSlice.NOTHING;
            next = new Running(partition);
            machine = kind.factory().create(name.partition(), next);
        }
        Running loaded = next;
        M loadedMachine = machine;
        long fromOffset = Math.max(0, appliedOffset);
        cycle.execute(() -> loadJournal(loaded, loadedMachine, slice, fromOffset));
    }

    /** The stored state is not used any more, and the load begins again later. Any thread. */
    private void loadAgain() {
        cycle.execute(() -> {
            replays = false;
            loadLater();
        });
    }

    /** Then replays the later records of the journal. */
    private void loadJournal(Running next, M machine, CoordinatorSlice slice, long fromOffset) {
        if (closed) {
            replays = false;
            return;
        }
        JournalReplay replay = new JournalReplay(cycle, next.partition, kind.types(), machine, slice, loading);
        journalReplay = replay;
        replay.start(fromOffset, (nextOffset, records, failure) -> {
            replays = false;
            // It has the machine, which would stay in memory as long as this host.
            journalReplay = null;
            if (closed) {
                return;
            }
            if (failure != null) {
                if (!failure.equals(loggedFailure)) {
                    log.error("cannot load a coordinator: partition={} reason=\"{}\"", name, failure);
                    loggedFailure = failure;
                }
                loadLater();
                return;
            }
            if (next.partition.isReplicated()
                    && nextOffset < next.partition.log().endOffset()) {
                awaitReplicas(replay);
                return;
            }
            loggedFailure = null;
            Runnable begin = () -> {
                if (!closed) {
                    log.info("coordinator loaded: partition={} fromOffset={} records={}", name, fromOffset, records);
                    loading.counters().onReplayed(records);
                    running = next;
                    feed = new SliceWriter(name, cycle, loading, replay.slice(), next.partition.journal()::epochs);
                    next.begin(machine);
                    letGoOn();
                }
            };
            if (nextOffset == 0) {
                // It has nothing to repeat, and the other brokers may not know the topic yet.
                begin.run();
            } else {
                next.whenLeading(begin, error -> loadLater());
            }
        });
    }

    /** Continues when the high watermark may have advanced. */
    private void awaitReplicas(JournalReplay replay) {
        cycle.loop()
                .schedule(
                        () -> {
                            if (!closed) {
                                replays = true;
                                journalReplay = replay;
                                replay.resume();
                            }
                        },
                        HIGH_WATERMARK_DELAY_MS);
    }

    /** Runs {@code action} when the machine is loaded, the load has failed for now, or the host is closed. */
    void whenLoaded(Runnable action) {
        if (running != null || closed || waiting.size() >= MAX_WAITING) {
            action.run();
        } else {
            waiting.add(action);
        }
    }

    private void letGoOn() {
        List<Runnable> actions = List.copyOf(waiting);
        waiting.clear();
        actions.forEach(Runnable::run);
    }

    private void loadLater() {
        letGoOn();
        cycle.loop().schedule(this::load, RELOAD_DELAY_MS);
    }

    /** Runs a step, or reports why it cannot. */
    void run(Step<M> step, Consumer<ErrorCode> unavailable) {
        if (running == null) {
            unavailable.accept(unavailability());
        } else {
            running.run(step);
        }
    }

    private ErrorCode unavailability() {
        return closed ? ErrorCode.NOT_COORDINATOR : ErrorCode.COORDINATOR_LOAD_IN_PROGRESS;
    }

    /** Runs a step when no other broker can have changed the state, or reports why it cannot. */
    void runConfirmed(Step<M> step, Consumer<ErrorCode> unavailable) {
        if (running == null) {
            unavailable.accept(unavailability());
        } else {
            running.runConfirmed(step, unavailable);
        }
    }

    /** Drops the machine and informs the steps that wait for it. */
    void close() {
        closed = true;
        if (journalReplay != null) {
            journalReplay.stop();
        }
        if (running != null) {
            running.end(ErrorCode.NOT_COORDINATOR);
        }
        letGoOn();
        loading.listener().onDropped(name.partition());
        builder.close();
    }

    /** A running machine and the state that belongs to it alone. */
    private final class Running implements Outbox {
        private final PartitionHost partition;
        private final Replies replies = new Replies();
        private final LeaderConfirmation confirmation;
        private M machine;
        private ClockSteps clock;
        private Loop.Timer tick;
        private long tickDueMs = CoordinatorMachine.NEVER;
        private long pausedUntilMs = NOT_PAUSED;

        Running(PartitionHost partition) {
            this.partition = partition;
            this.confirmation = new LeaderConfirmation(partition, cycle, loading.peers(), nodeId);
        }

        void begin(M loaded) {
            machine = loaded;
            loading.listener().onLoaded(name.partition(), loaded);
            // From now on: deadlines are set by this clock, even if it was set while the records were loaded.
            clock = new ClockSteps(loading.clock(), cycle.loop());
            long nowMs = clock.nowMs();
            loaded.onLoaded(nowMs);
            pausedUntilMs = pauseMs == 0 ? NOT_PAUSED : nowMs + pauseMs;
            scheduleTick(nowMs);
        }

        void run(Step<M> step) {
            long nowMs = nowMs();
            step.run(machine, nowMs, replies);
            scheduleTick(nowMs);
        }

        /** The time. If the clock was set, what is due moves with it. */
        private long nowMs() {
            long nowMs = clock.nowMs();
            long stepMs = clock.takeStepMs();
            if (stepMs != 0) {
                log.debug("the clock was set: partition={} stepMs={}", name, stepMs);
                machine.onClockStep(stepMs);
                tickDueMs = tickDueMs == CoordinatorMachine.NEVER ? tickDueMs : tickDueMs + stepMs;
                pausedUntilMs = pausedUntilMs == NOT_PAUSED ? NOT_PAUSED : pausedUntilMs + stepMs;
            }
            return nowMs;
        }

        void runConfirmed(Step<M> step, Consumer<ErrorCode> unavailable) {
            whenLeading(() -> run(step), unavailable);
        }

        /** See {@link LeaderConfirmation#confirm}. */
        void whenLeading(Runnable action, Consumer<ErrorCode> failed) {
            if (partition.isReplicated()) {
                confirmation.confirm(action, failed);
            } else {
                action.run();
            }
        }

        private boolean isInForce() {
            return running == this;
        }

        @Override
        public void append(List<CoordinatorRecord> records) {
            if (!records.isEmpty() && isInForce()) {
                partition.append(encode(records));
            }
            // An append that is rejected at once drops the machine within its step, which continues with its changes.
            records.forEach(machine::replay);
        }

        @Override
        public void whenSafe(Runnable action) {
            if (isInForce()) {
                replies.<Runnable>to(Runnable::run, lost -> {}).send(action);
            }
        }

        private RecordsAppend encode(List<CoordinatorRecord> records) {
            long nowMs = loading.clock().millis();
            List<CoordinatorSlice.Change> changes = feed.isFed() ? new ArrayList<>(records.size()) : List.of();
            // Records before one that could not be encoded are not part of this append.
            builder.reset();
            for (CoordinatorRecord record : records) {
                ByteBuf key = kind.types().encodeKey(record, PooledByteBufAllocator.DEFAULT);
                ByteBuf value = kind.types().encodeValue(record, PooledByteBufAllocator.DEFAULT);
                try {
                    builder.append(nowMs, key, value, List.of());
                    if (feed.isFed()) {
                        changes.add(new CoordinatorSlice.Change(
                                ByteBufUtil.getBytes(key), value == null ? null : ByteBufUtil.getBytes(value)));
                    }
                } finally {
                    key.release();
                    if (value != null) {
                        value.release();
                    }
                }
            }
            return new RecordsAppend(builder.build(), replies.onAppended(), changes);
        }

        private void onDecided(RecordsAppend append) {
            append.batch.release();
            if (!isInForce()) {
                return;
            }
            if (append.error() == ErrorCode.NONE) {
                endPause();
                lastError = ErrorCode.NONE;
                feed.add(append.changes, append.baseOffset() + append.changes.size());
                replies.onSafe(append.number);
            } else if (append.error() == ErrorCode.NOT_LEADER_OR_FOLLOWER) {
                // The metadata of this change close this host too, unless the partition is only opened again.
                end(ErrorCode.NOT_COORDINATOR);
                loadLater();
            } else {
                logOnce(append);
                pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(RELOAD_DELAY_MS, 2 * pauseMs));
                end(ErrorCode.COORDINATOR_NOT_AVAILABLE);
                loadLater();
            }
        }

        /** Appends succeed again, so the timers run. */
        private void endPause() {
            pauseMs = 0;
            if (pausedUntilMs != NOT_PAUSED) {
                pausedUntilMs = NOT_PAUSED;
                tickAfter(SHORTEST_TICK_MS);
            }
        }

        private void logOnce(RecordsAppend append) {
            if (append.error() != lastError) {
                lastError = append.error();
                log.error(
                        "cannot write a coordinator's records, loading it again: partition={} error={} reason=\"{}\"",
                        name,
                        append.error(),
                        append.errorMessage());
            }
        }

        void end(ErrorCode error) {
            running = null;
            feed.end();
            if (tick != null) {
                tick.cancel();
            }
            replies.failAll(error);
            confirmation.end();
        }

        private void scheduleTick(long nowMs) {
            if (!isInForce()) {
                return;
            }
            long dueMs = isPaused(nowMs) ? nextLook(nowMs) : machine.onTick(nowMs);
            if (!isInForce() || dueMs >= tickDueMs) {
                return;
            }
            tickDueMs = dueMs;
            tickAfter(Math.max(SHORTEST_TICK_MS, dueMs - nowMs));
        }

        private boolean isPaused(long nowMs) {
            boolean hasReplicas = lacksReplicas() && partition.replica().hasEnoughReplicas();
            return nowMs < pausedUntilMs && !hasReplicas;
        }

        private boolean lacksReplicas() {
            return lastError == ErrorCode.NOT_ENOUGH_REPLICAS;
        }

        /** When the pause may be over. */
        private long nextLook(long nowMs) {
            return lacksReplicas() ? Math.min(pausedUntilMs, nowMs + RELOAD_DELAY_MS) : pausedUntilMs;
        }

        private void tickAfter(long delayMs) {
            if (tick != null) {
                tick.cancel();
            }
            tick = cycle.loop().schedule(this::onTick, delayMs);
        }

        private void onTick() {
            tickDueMs = CoordinatorMachine.NEVER;
            tick = null;
            scheduleTick(nowMs());
        }

        /** An append of one batch of records. */
        private final class RecordsAppend extends Append {
            private final ByteBuf batch;
            private final long number;
            /** The records to store; empty if they are not stored. */
            private final List<CoordinatorSlice.Change> changes;

            RecordsAppend(ByteBuf batch, long number, List<CoordinatorSlice.Change> changes) {
                super(batch, PRODUCE_VERSION);
                this.changes = changes;
                this.batch = batch;
                this.number = number;
            }

            @Override
            protected void onDecided() {
                Running.this.onDecided(this);
            }
        }
    }
}
