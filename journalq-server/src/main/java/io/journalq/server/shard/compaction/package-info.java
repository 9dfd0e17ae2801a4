/**
 * Decides which partitions are compacted when, and runs the compactions on threads that may block.
 *
 * <p>In: the compaction debt of the partitions of all shards. Out: compactions, and statistics of them. It must not
 * know how a journal is compacted.
 */
package io.journalq.server.shard.compaction;
