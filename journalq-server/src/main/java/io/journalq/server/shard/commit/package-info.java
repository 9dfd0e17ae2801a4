/**
 * Makes appends of mode consistent durable, those of all partitions of a data folder together: in its write-ahead files.
 *
 * <p>In: what journals write, on their loops. Out, on the same loops: up to where each journal is durable, or that it must be
 * synced itself, as what it wrote could not be taken in. It must not know batches, producers or topics.
 *
 * <p>{@link io.journalq.server.shard.commit.Coverage} is one journal's part, {@link
 * io.journalq.server.shard.commit.LoopCommit} gathers a loop's, {@link io.journalq.server.shard.commit.GroupCommit} commits
 * what all loops have, in the blocking pool.
 */
package io.journalq.server.shard.commit;
