/**
 * Appends batches to one partition. {@link io.journalq.server.shard.append.BlockedAppends} keeps the order,
 * {@link io.journalq.server.shard.append.BatchAdmission} admits a batch and stages it in the journal, and
 * {@link io.journalq.server.shard.append.PartitionWriter} writes the journal at the end of the loop's iteration and
 * acknowledges. Each calls the next. In come {@link io.journalq.server.shard.append.Append}s, which are informed of
 * their outcome. Knows neither requests nor the other tasks of a partition.
 */
package io.journalq.server.shard.append;
