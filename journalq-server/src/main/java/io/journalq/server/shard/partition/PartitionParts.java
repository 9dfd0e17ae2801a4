package io.journalq.server.shard.partition;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.journal.Journal;
import io.journalq.server.loop.Loop;
import io.journalq.server.replication.ReplicaMachine;
import io.journalq.server.shard.append.BatchAdmission;
import io.journalq.server.shard.append.BlockedAppends;
import io.journalq.server.shard.append.PartitionProducers;
import io.journalq.server.shard.append.PartitionWriter;
import io.journalq.server.shard.flush.PartitionDurability;
import io.journalq.server.shard.read.ReadableLog;
import java.time.Clock;

/**
 * The parts of one partition, for what decides over several of them.
 *
 * @param clock the time of day
 * @param loop of the shard
 * @param throttles of the broker
 */
record PartitionParts(
        TopicPartition name,
        Journal journal,
        ReplicaMachine replica,
        PartitionProducers producers,
        ReadableLog readable,
        PartitionDurability durability,
        PartitionWriter writer,
        BatchAdmission admission,
        BlockedAppends appends,
        Clock clock,
        Loop loop,
        ReplicationThrottle.Directions throttles) {}
