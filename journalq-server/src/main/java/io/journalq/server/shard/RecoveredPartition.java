package io.journalq.server.shard;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.journal.Journal;
import io.journalq.server.replication.PartitionTransactions;
import io.journalq.server.replication.ProducerDedup;

/**
 * A partition as it was found on disk, ready for a shard to host.
 *
 * @param name for people
 * @param journal open and recovered
 * @param producers the state of its producers as of the journal's end
 * @param transactions the state of their transactions as of the journal's end
 */
record RecoveredPartition(
        TopicPartition name, Journal journal, ProducerDedup producers, PartitionTransactions transactions) {}
