/**
 * Decides when which partition is compacted, and has it done on threads that may block.
 *
 * <p>In: what the partitions of all shards say they are worth. Out: compactions, and counts of them. It must not know how a
 * journal is compacted.
 */
package io.journalq.server.shard.compaction;
