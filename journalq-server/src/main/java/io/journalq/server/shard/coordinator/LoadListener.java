package io.journalq.server.shard.coordinator;

import io.journalq.server.coordinator.CoordinatorMachine;

/**
 * Is informed of loaded machines.
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
}
