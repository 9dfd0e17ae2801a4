package io.journalq.server.shard.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.shard.coordinator.CoordinatorKind.CoordinatorCounters;
import io.journalq.server.shard.coordinator.CoordinatorKind.CoordinatorLoading;
import io.journalq.server.store.CoordinatorSlice;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Writing to a slice while the disk is slow. */
class SliceWriterTest {
    private static final int LIMIT_SECONDS = 30;
    /** As many as are handed over at once. */
    private static final int ONE_WRITE = 1_000;
    /** More than may wait. */
    private static final int TOO_MANY = 200_001;

    private final EventLoops loops = new EventLoops(1);
    private final LoopCycle cycle = loops.cycles().get(0);
    /** Work for threads that block. */
    private final BlockingQueue<Runnable> blocking = new LinkedBlockingQueue<>();

    private final StoredSlice slice = new StoredSlice();
    private final SliceWriter writer = new SliceWriter(
            new TopicPartition(InternalTopics.GROUPS, 0),
            cycle,
            new CoordinatorLoading<>(
                    blocking::add,
                    blocking::add,
                    Clock.systemUTC(),
                    CoordinatorSlice.Provider.NONE,
                    new CoordinatorCounters(),
                    (partition, machine) -> {},
                    null),
            slice,
            () -> LeaderEpochs.Entries.NONE);

    /** Keeps the newest value of each key. */
    private static final class StoredSlice implements CoordinatorSlice {
        private final Map<Byte, byte[]> values = new TreeMap<>();
        private long appliedOffset = NOTHING;

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
        public void apply(List<Change> changes, long nextOffset, int epoch) {
            changes.forEach(change -> values.put(change.key()[0], change.value()));
            appliedOffset = nextOffset;
        }

        @Override
        public void wipe() {
            values.clear();
            appliedOffset = NOTHING;
        }
    }

    @AfterEach
    void stop() {
        loops.close();
    }

    private void onLoop(Runnable work) {
        cycle.ask(() -> {
                    work.run();
                    return null;
                })
                .join();
    }

    private static List<CoordinatorSlice.Change> changes(int key, int count) {
        List<CoordinatorSlice.Change> changes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            changes.add(new CoordinatorSlice.Change(new byte[] {(byte) key}, new byte[] {1}));
        }
        return changes;
    }

    @Test
    void shouldLeaveNothingIncompleteWhenItGivesUpDuringAWrite() throws Exception {
        // given a slice with a record, and a write of another one that a thread is about to begin
        slice.apply(changes(1, 1), 1, 0);
        onLoop(() -> writer.add(changes(2, ONE_WRITE), 1 + ONE_WRITE));
        Runnable write = blocking.poll(LIMIT_SECONDS, TimeUnit.SECONDS);

        // when more changes arrive than may wait, and another thread takes what is to be done then
        onLoop(() -> writer.add(changes(3, TOO_MANY), 1 + ONE_WRITE + TOO_MANY));
        Runnable next = blocking.poll();
        if (next != null) {
            next.run();
        }
        write.run();
        onLoop(() -> {});
        for (Runnable later = blocking.poll(); later != null; later = blocking.poll()) {
            later.run();
        }

        // then a load does not take a part of the records for all of them
        assertThat(slice.appliedOffset() == CoordinatorSlice.NOTHING || slice.values.containsKey((byte) 1))
                .as("stored up to %d: %s", slice.appliedOffset(), slice.values.keySet())
                .isTrue();
    }
}
