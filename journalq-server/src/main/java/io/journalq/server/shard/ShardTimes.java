package io.journalq.server.shard;

import java.time.Clock;
import java.util.function.LongSupplier;

/**
 * What a shard does by the clock.
 *
 * @param clock the time of day
 * @param retentionClock the same, for what is given up by the clock
 * @param retentionCheckIntervalMs how often journals are looked at for segments to close or to give up
 * @param producerCheckIntervalMs how often producers are looked at for silent ones
 * @param producerExpiryMs how long a silent producer's sequence numbers are remembered, as of now
 * @param transactionMaxTimeoutMs how long a transaction may be open
 */
record ShardTimes(
        Clock clock,
        RetentionClock retentionClock,
        long retentionCheckIntervalMs,
        long producerCheckIntervalMs,
        LongSupplier producerExpiryMs,
        long transactionMaxTimeoutMs) {}
