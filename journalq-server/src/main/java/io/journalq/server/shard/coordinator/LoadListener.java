package io.journalq.server.shard.coordinator;

import io.journalq.server.coordinator.CoordinatorMachine;

/**
 * Hears of machines.
 *
 * @param <M> the machine
 */
@FunctionalInterface
public interface LoadListener<M extends CoordinatorMachine> {
    /**
     * A machine has its state and will serve next; what it appends now is part of that. On its loop.
     *
     * @param partition of the internal topic
     */
    void onLoaded(int partition, M machine);
}
