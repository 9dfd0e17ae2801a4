package io.journalq.server.shard.coordinator;

import io.journalq.server.coordinator.CoordinatorMachine;

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
