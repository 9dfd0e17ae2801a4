package io.journalq.server.shard.partition;

import io.journalq.server.loop.BlockingWork;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.shard.append.AppendResources;
import io.journalq.server.shard.flush.Flusher;
import io.journalq.server.shard.flush.WalLoopBuffers;

/**
 * Shared by the partitions of one loop.
 *
 * @param cycle of that loop
 * @param appends for their appends
 * @param flusher fsyncs their journals
 * @param walBuffers collect their writes for the write-ahead files
 * @param blockingWork starts work that waits for the disk
 * @param producerMemory charged with the producers of all partitions
 */
public record PartitionResources(
        LoopCycle cycle,
        AppendResources appends,
        Flusher flusher,
        WalLoopBuffers walBuffers,
        BlockingWork blockingWork,
        MemoryAccount producerMemory) {}
