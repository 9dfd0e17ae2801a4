package io.journalq.server.shard.coordinator;

import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.coordinator.RecordTypes;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.store.CoordinatorSlice;
import java.time.Clock;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;

/**
 * A kind of coordinator.
 *
 * @param topic name of the internal topic that holds the records
 * @param types the record types
 * @param factory creates machines
 * @param <M> the machine
 */
public record CoordinatorKind<M extends CoordinatorMachine>(String topic, RecordTypes types, Factory<M> factory) {
    /** Creates machines; called on any thread. */
    @FunctionalInterface
    public interface Factory<M> {
        /**
         * Creates the machine of one partition, without state.
         *
         * @param outbox accepts the machine's records from when it is loaded
         */
        M create(int partition, Outbox outbox);
    }

    /**
     * Shared by the hosts of one kind of coordinator.
     *
     * @param blockingPool runs work that waits for the disk
     * @param loadingPool loads stored state, which is mostly work for the processor
     * @param clock the time of steps and ticks
     * @param slices the stored state
     * @param counters statistics
     * @param listener is informed of every machine that is loaded
     * @param peers asks other brokers whether this one still leads; null for a broker that is alone
     * @param <M> the machine
     */
    record CoordinatorLoading<M extends CoordinatorMachine>(
            Executor blockingPool,
            Executor loadingPool,
            Clock clock,
            CoordinatorSlice.Provider slices,
            CoordinatorCounters counters,
            LoadListener<M> listener,
            PeerRequests peers) {}

    /**
     * Is informed of machines that come and go.
     *
     * @param <M> the machine
     */
    @FunctionalInterface
    public interface LoadListener<M extends CoordinatorMachine> {
        /**
         * Called on the machine's loop when its state is loaded, before it serves requests. Records that it appends now
         * become part of that state.
         *
         * @param partition of the internal topic
         */
        void onLoaded(int partition, M machine);

        /** Called on the machine's loop when it is dropped and will not be loaded again here. Releases its memory. */
        default void onDropped(int partition) {}
    }

    /**
     * An operation on a machine.
     *
     * @param <M> the machine
     */
    @FunctionalInterface
    public interface Step<M extends CoordinatorMachine> {
        /**
         * Called on the loop of the machine's host.
         *
         * @param replies creates the replies that are passed to the machine
         */
        void run(M machine, long nowMs, Replies replies);
    }

    /** Statistics of loading and storing the state of coordinators of one kind. Any thread. */
    public static final class CoordinatorCounters {
        private final LongAdder replayedRecords = new LongAdder();
        private final LongAdder storedRecords = new LongAdder();

        CoordinatorCounters() {}

        void onReplayed(long records) {
            replayedRecords.add(records);
        }

        void onStored(long records) {
            storedRecords.add(records);
        }

        /** Number of journal records that were read to load coordinators because they were not stored. */
        public long replayedRecords() {
            return replayedRecords.sum();
        }

        /** Number of changed records that were written to the store. */
        public long storedRecords() {
            return storedRecords.sum();
        }
    }
}
