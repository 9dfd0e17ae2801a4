package io.journalq.client.transaction;

import io.journalq.client.BatchMetadata;
import io.journalq.client.ProducerRecord;
import io.journalq.client.RecordMetadata;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.client.produce.Sender;
import io.journalq.common.id.TopicPartition;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** The application's hand on the open transaction. Any thread, until it is closed. */
final class OpenTransaction implements Transaction {
    private final Sender sender;
    private final Transactor transactor;
    private volatile boolean closed;

    OpenTransaction(Sender sender, Transactor transactor) {
        this.sender = sender;
        this.transactor = transactor;
    }

    @Override
    public RecordMetadata send(ProducerRecord record) {
        return open().send(record);
    }

    @Override
    public CompletableFuture<RecordMetadata> sendAsync(ProducerRecord record) {
        return open().sendAsync(record);
    }

    @Override
    public CompletableFuture<BatchMetadata> sendBatch(String topic, int partition, List<ProducerRecord> records) {
        return open().sendBatch(topic, partition, records);
    }

    @Override
    public void commitOffsets(String groupId, Map<TopicPartition, CommittedOffset> offsets) {
        commitOffsets(GroupMember.outsider(groupId), offsets);
    }

    @Override
    public void commitOffsets(GroupMember member, Map<TopicPartition, CommittedOffset> offsets) {
        open();
        if (!offsets.isEmpty()) {
            transactor.commitOffsets(member, Map.copyOf(offsets));
        }
    }

    void close() {
        closed = true;
    }

    private Sender open() {
        if (closed) {
            throw new IllegalStateException("the transaction is over; begin another with inTransaction");
        }
        return sender;
    }
}
