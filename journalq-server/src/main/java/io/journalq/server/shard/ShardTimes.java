package io.journalq.server.shard;

import java.time.Clock;

/**
 * What a shard does by the clock.
 *
 * @param clock the time of day
 * @param retentionCheckIntervalMs how often journals are looked at for segments to close or to give up
 * @param producerExpiryMs how long a silent producer's sequence numbers are remembered
 * @param transactionMaxTimeoutMs how long a transaction may be open
 */
record ShardTimes(Clock clock, long retentionCheckIntervalMs, long producerExpiryMs, long transactionMaxTimeoutMs) {}
