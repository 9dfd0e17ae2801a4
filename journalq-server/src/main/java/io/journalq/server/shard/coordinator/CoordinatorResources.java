package io.journalq.server.shard.coordinator;

import io.journalq.server.shard.Shards;
import io.journalq.server.store.CoordinatorSlices;
import java.time.Clock;
import java.util.concurrent.Executor;

/**
 * Shared by all kinds of coordinators.
 *
 * @param shards host the partitions with the records
 * @param blockingPool runs work that waits for the disk
 * @param clock the time of steps and ticks
 * @param slices the stored state, so that a load need not read whole journals
 */
public record CoordinatorResources(Shards shards, Executor blockingPool, Clock clock, CoordinatorSlices slices) {}
