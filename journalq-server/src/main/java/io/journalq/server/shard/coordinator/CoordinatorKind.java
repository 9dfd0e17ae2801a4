package io.journalq.server.shard.coordinator;

import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.coordinator.RecordTypes;

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
}
