package io.journalq.server.shard.coordinator;

import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.coordinator.RecordTypes;

/**
 * What coordinators of one kind are.
 *
 * @param topic name of the internal topic that holds their records
 * @param types the records
 * @param factory makes an empty machine
 * @param <M> the machine
 */
public record CoordinatorKind<M extends CoordinatorMachine>(String topic, RecordTypes types, Factory<M> factory) {
    /** Makes machines; called on any thread. */
    @FunctionalInterface
    public interface Factory<M> {
        /**
         * Makes the machine of one partition, without state.
         *
         * @param outbox takes its records from when it is loaded
         */
        M create(int partition, Outbox outbox);
    }
}
