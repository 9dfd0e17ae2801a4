package io.journalq.server.shard.compaction;

import io.journalq.server.loop.FutureWaiter;
import java.time.Clock;
import java.util.concurrent.Executor;

/**
 * What compaction runs on.
 *
 * @param blockingPool runs compactions
 * @param clock the time of day
 * @param waiting how a thread of the pool waits for a loop
 */
public record CleanerSurroundings(Executor blockingPool, Clock clock, FutureWaiter waiting) {}
