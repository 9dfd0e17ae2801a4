package io.journalq.server.shard.coordinator;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.shard.Append;
import io.journalq.server.shard.PartitionHost;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One machine on the loop of the partition that holds its records: loads it, runs its steps, appends its records, wakes it
 * when something is due. When an append fails, the machine's state is ahead of its journal: it is dropped and loaded anew.
 *
 * <p>Every method on the partition's loop.
 */
final class CoordinatorHost<M extends CoordinatorMachine> {
    private static final Logger log = LoggerFactory.getLogger(CoordinatorHost.class);

    /** Between a failure and the next try to load. */
    private static final long RELOAD_DELAY_MS = 500;

    private static final long SHORTEST_TICK_MS = 1;
    private static final int PRODUCE_VERSION = 12;

    private final CoordinatorKind<M> kind;
    private final TopicPartition name;
    private final LoopCycle cycle;
    private final Supplier<PartitionHost> partitions;
    private final CoordinatorLoading<M> loading;
    private final BatchBuilder builder = new BatchBuilder(PooledByteBufAllocator.DEFAULT, CompressionCodec.NONE);

    /** The machine in force; null while there is none. */
    private Running running;

    private boolean closed;

    /**
     * Prepares a host; {@link #load} begins.
     *
     * @param partitions gives the partition's host, null while it is not there
     */
    CoordinatorHost(
            CoordinatorKind<M> kind,
            TopicPartition name,
            LoopCycle cycle,
            Supplier<PartitionHost> partitions,
            CoordinatorLoading<M> loading) {
        this.kind = kind;
        this.name = name;
        this.cycle = cycle;
        this.partitions = partitions;
        this.loading = loading;
    }

    LoopCycle cycle() {
        return cycle;
    }

    /** Loads the machine, and goes on trying until that succeeds or the host is closed. */
    void load() {
        if (closed) {
            return;
        }
        PartitionHost partition = partitions.get();
        if (partition == null || partition.isClosed()) {
            loadLater();
            return;
        }
        Running next = new Running(partition);
        M machine = kind.factory().create(name.partition(), next);
        new JournalReplay(cycle, partition, kind.types(), machine, loading.blockingPool())
                .start(partition.logStartOffset(), (nextOffset, records, failure) -> {
                    if (closed) {
                        return;
                    }
                    if (failure != null) {
                        log.error("cannot load a coordinator: partition={} reason=\"{}\"", name, failure);
                        loadLater();
                        return;
                    }
                    log.debug("coordinator loaded: partition={} records={}", name, records);
                    running = next;
                    next.begin(machine);
                });
    }

    private void loadLater() {
        cycle.loop().schedule(this::load, RELOAD_DELAY_MS);
    }

    /** Runs a step, or says why not. */
    void run(Step<M> step, Consumer<ErrorCode> unavailable) {
        if (running == null) {
            unavailable.accept(closed ? ErrorCode.NOT_COORDINATOR : ErrorCode.COORDINATOR_LOAD_IN_PROGRESS);
        } else {
            running.run(step);
        }
    }

    /** Ends the machine; who waits for it hears so. */
    void close() {
        closed = true;
        if (running != null) {
            running.end(ErrorCode.NOT_COORDINATOR);
        }
        builder.close();
    }

    /** A machine in force, and what belongs to it alone. */
    private final class Running implements Outbox {
        private final PartitionHost partition;
        private final Replies replies = new Replies();
        private M machine;
        private Loop.Timer tick;
        private long tickDueMs = CoordinatorMachine.NEVER;

        Running(PartitionHost partition) {
            this.partition = partition;
        }

        void begin(M loaded) {
            machine = loaded;
            loading.listener().onLoaded(name.partition(), loaded);
            long nowMs = loading.clock().millis();
            loaded.onLoaded(nowMs);
            scheduleTick(nowMs);
        }

        void run(Step<M> step) {
            long nowMs = loading.clock().millis();
            step.run(machine, nowMs, replies);
            scheduleTick(nowMs);
        }

        private boolean isInForce() {
            return running == this;
        }

        @Override
        public void append(List<CoordinatorRecord> records) {
            if (records.isEmpty() || !isInForce()) {
                return;
            }
            partition.append(new RecordsAppend(encode(records), replies.onAppended()));
            if (isInForce()) {
                records.forEach(machine::replay);
            }
        }

        @Override
        public void whenSafe(Runnable action) {
            if (isInForce()) {
                replies.<Runnable>to(Runnable::run, lost -> {}).send(action);
            }
        }

        private ByteBuf encode(List<CoordinatorRecord> records) {
            long nowMs = loading.clock().millis();
            for (CoordinatorRecord record : records) {
                ByteBuf key = kind.types().encodeKey(record, PooledByteBufAllocator.DEFAULT);
                ByteBuf value = kind.types().encodeValue(record, PooledByteBufAllocator.DEFAULT);
                try {
                    builder.append(nowMs, key, value, List.of());
                } finally {
                    key.release();
                    if (value != null) {
                        value.release();
                    }
                }
            }
            return builder.build();
        }

        private void onDecided(RecordsAppend append) {
            append.batch.release();
            if (!isInForce()) {
                return;
            }
            if (append.error() == ErrorCode.NONE) {
                replies.onSafe(append.number);
            } else {
                log.error(
                        "a coordinator's records cannot be written, it is loaded anew: partition={} error={} reason=\"{}\"",
                        name,
                        append.error(),
                        append.errorMessage());
                end(ErrorCode.COORDINATOR_NOT_AVAILABLE);
                loadLater();
            }
        }

        void end(ErrorCode error) {
            running = null;
            if (tick != null) {
                tick.cancel();
            }
            replies.failAll(error);
        }

        private void scheduleTick(long nowMs) {
            if (!isInForce()) {
                return;
            }
            long dueMs = machine.onTick(nowMs);
            if (!isInForce() || dueMs >= tickDueMs) {
                return;
            }
            if (tick != null) {
                tick.cancel();
            }
            tickDueMs = dueMs;
            tick = cycle.loop().schedule(this::onTick, Math.max(SHORTEST_TICK_MS, dueMs - nowMs));
        }

        private void onTick() {
            tickDueMs = CoordinatorMachine.NEVER;
            tick = null;
            scheduleTick(loading.clock().millis());
        }

        /** One batch of records on its way. */
        private final class RecordsAppend extends Append {
            private final ByteBuf batch;
            private final long number;

            RecordsAppend(ByteBuf batch, long number) {
                super(batch, PRODUCE_VERSION);
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
