/**
 * Makes the writes of a shard's partitions durable. {@link io.journalq.server.shard.flush.PartitionDurability} tracks
 * one partition, {@link io.journalq.server.shard.flush.Flusher} fsyncs the journals of one loop, and
 * {@link io.journalq.server.shard.flush.WalSyncer} first makes the writes of all loops durable in the write-ahead
 * files. In come writes and requests for a flush; out go the durable offsets, or the failure. Knows no appends and no
 * readers.
 */
package io.journalq.server.shard.flush;
