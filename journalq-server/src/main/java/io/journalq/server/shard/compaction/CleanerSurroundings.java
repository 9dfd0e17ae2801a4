package io.journalq.server.shard.compaction;

import io.journalq.server.loop.Waiting;
import java.time.Clock;
import java.util.concurrent.Executor;

/**
 * The environment of compaction.
 *
 * @param blockingPool runs compactions
 * @param clock the time of day
 * @param waiting how a thread of the pool waits for a loop
 */
public record CleanerSurroundings(Executor blockingPool, Clock clock, Waiting waiting) {}
