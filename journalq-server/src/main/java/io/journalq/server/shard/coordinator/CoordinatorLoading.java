package io.journalq.server.shard.coordinator;

import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.store.CoordinatorSlices;
import java.time.Clock;
import java.util.concurrent.Executor;

/**
 * What the hosts of one kind share.
 *
 * @param blockingPool for what waits for the disk
 * @param loadingPool for the load of what is stored, which is mostly work for processors
 * @param clock the time of steps and ticks
 * @param slices what is stored of their state
 * @param counters what they count
 * @param listener hears of every machine that is loaded
 * @param <M> the machine
 */
record CoordinatorLoading<M extends CoordinatorMachine>(
        Executor blockingPool,
        Executor loadingPool,
        Clock clock,
        CoordinatorSlices slices,
        CoordinatorCounters counters,
        LoadListener<M> listener) {}
