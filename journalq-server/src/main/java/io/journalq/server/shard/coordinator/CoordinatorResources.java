package io.journalq.server.shard.coordinator;

import io.journalq.server.shard.Shards;
import io.journalq.server.store.CoordinatorSlices;
import java.time.Clock;
import java.util.concurrent.Executor;

/**
 * What all kinds of coordinators share.
 *
 * @param shards host the partitions with their records
 * @param blockingPool for work that waits for the disk
 * @param clock the time of steps and ticks
 * @param slices their stored state, so that they need not read their whole journals
 */
public record CoordinatorResources(Shards shards, Executor blockingPool, Clock clock, CoordinatorSlices slices) {}
