package io.journalq.client;

import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.client.record.BatchMetadata;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.client.transaction.Transaction;
import io.journalq.common.id.TopicPartition;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** A transaction whose sends pass the interceptors of the producer. */
final class InterceptedTransaction implements Transaction {
    private final Transaction transaction;
    private final InterceptedSends sends;

    InterceptedTransaction(Transaction transaction, InterceptedSends sends) {
        this.transaction = transaction;
        this.sends = sends;
    }

    @Override
    public RecordMetadata send(ProducerRecord record) {
        return sends.send(notNull(record, "record"), transaction::send);
    }

    @Override
    public CompletableFuture<RecordMetadata> sendAsync(ProducerRecord record) {
        return sends.sendAsync(notNull(record, "record"), transaction::sendAsync);
    }

    @Override
    public CompletableFuture<BatchMetadata> sendBatch(String topic, int partition, List<ProducerRecord> records) {
        return sends.sendBatch(
                notNull(records, "records"), changed -> transaction.sendBatch(topic, partition, changed));
    }

    @Override
    public void commitOffsets(String groupId, Map<TopicPartition, CommittedOffset> offsets) {
        transaction.commitOffsets(groupId, offsets);
    }

    @Override
    public void commitOffsets(GroupMember member, Map<TopicPartition, CommittedOffset> offsets) {
        transaction.commitOffsets(member, offsets);
    }
}
