package io.journalq.server.shard.coordinator;

import io.journalq.server.coordinator.CoordinatorMachine;

/**
 * Something to do with a machine.
 *
 * @param <M> the machine
 */
@FunctionalInterface
public interface Step<M extends CoordinatorMachine> {
    /**
     * Called on the loop of the machine's host.
     *
     * @param replies makes the replies that the machine is given
     */
    void run(M machine, long nowMs, Replies replies);
}
