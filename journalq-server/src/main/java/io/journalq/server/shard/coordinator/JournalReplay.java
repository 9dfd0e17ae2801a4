package io.journalq.server.shard.coordinator;

import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.RecordTypes;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.shard.coordinator.CoordinatorKind.CoordinatorCounters;
import io.journalq.server.shard.coordinator.CoordinatorKind.CoordinatorLoading;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.read.PartitionRead;
import io.journalq.server.store.CoordinatorSlice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replays a partition's records into a machine that is not in use yet. Reads are started on the partition's loop. Their
 * bytes are read and replayed on a thread that may block, in turns.
 */
final class JournalReplay {
    private static final Logger log = LoggerFactory.getLogger(JournalReplay.class);
    private static final int READ_SIZE_BYTES = 1 << 20;
    private static final int NO_EPOCH = -1;

    private final LoopCycle cycle;
    private final PartitionHost partition;
    private final RecordTypes types;
    private final CoordinatorMachine machine;
    private final Executor blockingPool;
    private final CoordinatorCounters counters;
    private CoordinatorSlice slice;
    private Listener listener;
    private boolean stopped;
    private long offset;
    private long records;
    /** Records that are in the journal but not in the slice yet. */
    private List<CoordinatorSlice.Change> changes = new ArrayList<>();

    /** Is informed of the result of the replay. */
    interface Listener {
        /**
         * Called on the partition's loop.
         *
         * @param nextOffset offset behind the replayed records
         * @param records number of replayed records, of all replays
         * @param failure null for success
         */
        void onReplayed(long nextOffset, long records, String failure);
    }

    JournalReplay(
            LoopCycle cycle,
            PartitionHost partition,
            RecordTypes types,
            CoordinatorMachine machine,
            CoordinatorSlice slice,
            CoordinatorLoading<?> loading) {
        this.cycle = cycle;
        this.partition = partition;
        this.types = types;
        this.machine = machine;
        this.slice = slice;
        this.blockingPool = loading.blockingPool();
        this.counters = loading.counters();
    }

    /** Replays from {@code fromOffset} to the high watermark. On the partition's loop. */
    void start(long fromOffset, Listener whenDone) {
        listener = whenDone;
        offset = Math.max(fromOffset, partition.log().startOffset());
        next();
    }

    /** Replays what has become visible since the listener was informed of a success, and informs it again. */
    void resume() {
        next();
    }

    /** Stops when the current read is replayed, and informs the listener. On the partition's loop. */
    void stop() {
        stopped = true;
    }

    private void next() {
        if (stopped) {
            listener.onReplayed(offset, records, null);
            return;
        }
        PartitionRead read = partition.read(offset, NO_EPOCH, NO_EPOCH, READ_SIZE_BYTES, true, false);
        if (read.error() != ErrorCode.NONE) {
            listener.onReplayed(offset, records, read.error().words());
        } else if (read.slice() == null) {
            listener.onReplayed(offset, records, null);
        } else {
            try {
                blockingPool.execute(() -> replay(read.slice()));
            } catch (RejectedExecutionException overloaded) {
                read.slice().release();
                listener.onReplayed(offset, records, "too much work is waiting for the disk");
            }
        }
    }

    private void replay(JournalSlice slice) {
        String failure = null;
        try {
            ByteBuf batches = slice.readFully(PooledByteBufAllocator.DEFAULT);
            try (BatchReader reader = new BatchReader(PooledByteBufAllocator.DEFAULT)) {
                reader.reset(batches);
                replay(reader);
                store();
            } finally {
                batches.release();
            }
        } catch (IOException | InvalidBatchException | BadFrameException unreadable) {
            failure = unreadable.getMessage();
        } catch (RuntimeException | Error impossible) {
            // The records contradict each other, so the load fails.
            log.error("cannot replay a coordinator's records: partition={}", partition.name(), impossible);
            failure = "cannot replay the records: " + impossible.getMessage();
        }
        String ended = failure;
        cycle.execute(() -> {
            if (ended != null) {
                listener.onReplayed(offset, records, ended);
            } else {
                next();
            }
        });
    }

    /** Adds the records to the slice, so that the next load need not read them again. */
    private void store() {
        if (changes.isEmpty()) {
            return;
        }
        try {
            slice.apply(changes, offset, partition.journal().epochs().epochOf(offset - 1));
            counters.onStored(changes.size());
        } catch (IOException failure) {
            log.error("cannot store a coordinator's state: partition={}", partition.name(), failure);
            SliceWriter.wipe(slice, partition.name());
            slice = CoordinatorSlice.NONE;
        }
        changes = new ArrayList<>();
    }

    private static byte[] bytes(ByteBuf buffer) {
        return buffer == null ? null : ByteBufUtil.getBytes(buffer);
    }

    /** The slice that later records are added to. */
    CoordinatorSlice slice() {
        return slice;
    }

    private void replay(BatchReader reader) {
        while (reader.nextBatch()) {
            if (!reader.isControlBatch()) {
                while (reader.next()) {
                    CoordinatorRecord record = types.decode(reader.key(), reader.value());
                    machine.replay(record);
                    if (slice != CoordinatorSlice.NONE) {
                        changes.add(new CoordinatorSlice.Change(bytes(reader.key()), bytes(reader.value())));
                    }
                    records++;
                }
            }
            offset = reader.nextOffset();
        }
    }
}
