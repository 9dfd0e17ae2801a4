/**
 * Brings what the partitions of a shard wrote to the disk. {@link io.journalq.server.shard.flush.Durability} tracks one
 * partition, {@link io.journalq.server.shard.flush.Flusher} fsyncs the journals of one loop, and {@link
 * io.journalq.server.shard.flush.WalSyncer} makes what the journals of all loops wrote durable in the write-ahead files
 * first. In come writes and requests for a flush; out go the offsets that are durable, or the failure. Knows no appends
 * and no readers.
 */
package io.journalq.server.shard.flush;
