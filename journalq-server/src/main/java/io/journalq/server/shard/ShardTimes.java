package io.journalq.server.shard;

import java.time.Clock;
import java.util.function.LongSupplier;

/**
 * The clocks and intervals of a shard.
 *
 * @param clock the time of day
 * @param retentionClock the time of day for retention
 * @param retentionCheckIntervalMs how often journals are checked for segments to close or delete, in milliseconds
 * @param producerCheckIntervalMs how often producers are checked for expiry, in milliseconds
 * @param producerExpiryMs how long a silent producer's sequence numbers are remembered, in milliseconds; may change
 * @param transactionMaxTimeoutMs how long a transaction may be open, in milliseconds
 */
record ShardTimes(
        Clock clock,
        RetentionClock retentionClock,
        long retentionCheckIntervalMs,
        long producerCheckIntervalMs,
        LongSupplier producerExpiryMs,
        long transactionMaxTimeoutMs) {}
