package io.journalq.server.shard.coordinator;

import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.store.CoordinatorSlices;
import java.time.Clock;
import java.util.concurrent.Executor;

/**
 * Shared by the hosts of one kind of coordinator.
 *
 * @param blockingPool runs work that waits for the disk
 * @param loadingPool loads stored state, which is mostly work for the processor
 * @param clock the time of steps and ticks
 * @param slices the stored state
 * @param counters statistics
 * @param listener is informed of every machine that is loaded
 * @param <M> the machine
 */
record CoordinatorLoading<M extends CoordinatorMachine>(
        Executor blockingPool,
        Executor loadingPool,
        Clock clock,
        CoordinatorSlices slices,
        CoordinatorCounters counters,
        LoadListener<M> listener) {}
