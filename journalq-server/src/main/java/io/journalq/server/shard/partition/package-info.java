/**
 * One partition on its shard. {@link io.journalq.server.shard.partition.PartitionHost} creates the parts of {@code
 * append}, {@code flush} and {@code read} on the partition's journal, and manages their common lifecycle: opening,
 * settings, retention, compaction, closing. {@link io.journalq.server.shard.partition.PartitionRole} leads or follows
 * by the metadata. {@link io.journalq.server.shard.partition.PartitionFiles} recovers a partition from its files.
 * Knows neither the shard, nor other partitions, nor requests.
 */
package io.journalq.server.shard.partition;
