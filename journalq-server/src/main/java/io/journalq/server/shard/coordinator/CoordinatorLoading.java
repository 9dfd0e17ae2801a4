package io.journalq.server.shard.coordinator;

import io.journalq.server.coordinator.CoordinatorMachine;
import java.time.Clock;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * What the hosts of one kind share.
 *
 * @param blockingPool for what waits for the disk
 * @param clock the time of steps and ticks
 * @param whenLoaded is given every machine that is loaded, on its loop, before it serves
 * @param <M> the machine
 */
record CoordinatorLoading<M extends CoordinatorMachine>(Executor blockingPool, Clock clock, Consumer<M> whenLoaded) {}
