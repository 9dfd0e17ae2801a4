package io.journalq.server.shard.partition;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.journal.Journal;
import io.journalq.server.producerstate.PartitionTransactions;

/**
 * A partition that was recovered from disk, ready to be hosted by a shard.
 *
 * @param name for people
 * @param journal open and recovered
 * @param transactions the state of its producers and their transactions as of the journal's end
 */
public record RecoveredPartition(TopicPartition name, Journal journal, PartitionTransactions transactions) {}
