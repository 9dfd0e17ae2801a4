package io.journalq.server.shard.coordinator;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.shard.coordinator.CoordinatorKind.CoordinatorCounters;
import io.journalq.server.shard.coordinator.CoordinatorKind.CoordinatorLoading;
import io.journalq.server.store.CoordinatorSlice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the records of a running coordinator to its stored slice: off the loop, many records at a time, and only
 * records that are safe in the journal. If that fails, the slice is abandoned, because an outdated slice could restore
 * records that compaction has since removed. On the coordinator's loop.
 */
final class SliceWriter {
    private static final Logger log = LoggerFactory.getLogger(SliceWriter.class);

    private static final long INTERVAL_MS = 200;
    private static final int HAND_OVER_CHANGES = 1_000;
    private static final int MAX_WAITING_CHANGES = 200_000;

    private final TopicPartition name;
    private final LoopCycle cycle;
    private final Executor blockingPool;
    private final CoordinatorCounters counters;
    private final CoordinatorSlice slice;
    private final Supplier<LeaderEpochs.Entries> epochs;
    private List<CoordinatorSlice.Change> waiting = new ArrayList<>();
    private long waitingUpTo;
    private boolean writes;
    private boolean scheduled;
    private boolean ended;
    /** Whether the slice is abandoned while it is being written: it is deleted after that. */
    private boolean abandoned;

    /** @param epochs the leader epochs of the journal */
    SliceWriter(
            TopicPartition name,
            LoopCycle cycle,
            CoordinatorLoading<?> loading,
            CoordinatorSlice slice,
            Supplier<LeaderEpochs.Entries> epochs) {
        this.name = name;
        this.cycle = cycle;
        this.blockingPool = loading.blockingPool();
        this.counters = loading.counters();
        this.slice = slice;
        this.epochs = epochs;
    }

    /** Whether changes are still stored. */
    boolean isFed() {
        return !ended && slice != CoordinatorSlice.NONE;
    }

    /** Adds changes that are safe in the journal. Everything before {@code nextOffset} is safe and was added here. */
    void add(List<CoordinatorSlice.Change> changes, long nextOffset) {
        if (!isFed()) {
            return;
        }
        waiting.addAll(changes);
        waitingUpTo = nextOffset;
        if (waiting.size() >= HAND_OVER_CHANGES) {
            handOver();
        } else if (!scheduled) {
            scheduled = true;
            cycle.loop().schedule(this::onInterval, INTERVAL_MS);
        }
        if (waiting.size() > MAX_WAITING_CHANGES) {
            giveUp("it is too slow");
        }
    }

    /** Whether the slice is still being written, so that no other thread may write it. */
    boolean isWriting() {
        return writes;
    }

    /** Stops accepting changes. */
    void end() {
        ended = true;
        waiting = new ArrayList<>();
    }

    private void onInterval() {
        scheduled = false;
        handOver();
    }

    private void handOver() {
        if (writes || waiting.isEmpty() || ended) {
            return;
        }
        List<CoordinatorSlice.Change> changes = waiting;
        long upTo = waitingUpTo;
        int epoch = epochs.get().epochOf(upTo - 1);
        waiting = new ArrayList<>();
        writes = true;
        try {
            blockingPool.execute(() -> write(changes, upTo, epoch));
        } catch (RejectedExecutionException stopping) {
            writes = false;
            end();
        }
    }

    /** In the blocking pool. */
    private void write(List<CoordinatorSlice.Change> changes, long upTo, int epoch) {
        String failure = null;
        try {
            slice.apply(changes, upTo, epoch);
            counters.onStored(changes.size());
        } catch (IOException failed) {
            failure = String.valueOf(failed.getMessage());
        } catch (RuntimeException | Error defect) {
            log.error("unexpected failure while storing a coordinator's state: partition={}", name, defect);
            failure = defect.toString();
        }
        String reason = failure;
        cycle.execute(() -> onWritten(reason));
    }

    private void onWritten(String failure) {
        writes = false;
        if (abandoned) {
            wipeLater();
        } else if (failure != null && !ended) {
            giveUp(failure);
        } else {
            handOver();
        }
    }

    private void giveUp(String reason) {
        if (ended) {
            return;
        }
        end();
        log.error("stopped storing a coordinator's state: partition={} reason=\"{}\"", name, reason);
        if (writes) {
            // A write that came behind the deletion would leave a part of the records, which a load takes for all.
            abandoned = true;
        } else {
            wipeLater();
        }
    }

    private void wipeLater() {
        abandoned = false;
        writes = true;
        try {
            blockingPool.execute(() -> {
                try {
                    wipe(slice, name);
                } finally {
                    cycle.execute(() -> writes = false);
                }
            });
        } catch (RejectedExecutionException stopping) {
            writes = false;
            log.debug("stopping: partition={}", name);
        }
    }

    /** Deletes a slice that cannot be used; false if that fails. Blocks. */
    static boolean wipe(CoordinatorSlice slice, TopicPartition name) {
        try {
            slice.wipe();
            return true;
        } catch (IOException failure) {
            log.error(
                    "cannot delete a coordinator's stored state: partition={} reason=\"{}\"",
                    name,
                    failure.getMessage());
            return false;
        }
    }
}
