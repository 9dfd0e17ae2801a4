package io.journalq.server.shard.partition;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.journal.Journal;
import io.journalq.server.producerstate.PartitionTransactions;

/**
 * A partition as it was found on disk, ready for a shard to host.
 *
 * @param name for people
 * @param journal open and recovered
 * @param transactions the state of its producers and their transactions as of the journal's end
 */
public record RecoveredPartition(TopicPartition name, Journal journal, PartitionTransactions transactions) {}
