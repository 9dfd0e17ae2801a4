package io.journalq.client.internal.transaction;

import static io.journalq.client.internal.check.Arguments.noNulls;
import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.client.internal.produce.Sender;
import io.journalq.client.record.BatchMetadata;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.client.transaction.Transaction;
import io.journalq.common.id.TopicPartition;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** The open transaction as the application sees it. Any thread may use it until it is closed. */
final class OpenTransaction implements Transaction {
    private final Sender sender;
    private final TransactionRunner transactor;
    private volatile boolean closed;

    OpenTransaction(Sender sender, TransactionRunner transactor) {
        this.sender = sender;
        this.transactor = transactor;
    }

    @Override
    public RecordMetadata send(ProducerRecord record) {
        return open().send(notNull(record, "record"));
    }

    @Override
    public CompletableFuture<RecordMetadata> sendAsync(ProducerRecord record) {
        return open().sendAsync(notNull(record, "record"));
    }

    @Override
    public CompletableFuture<BatchMetadata> sendBatch(String topic, int partition, List<ProducerRecord> records) {
        return open().sendBatch(notNull(topic, "topic"), partition, notNull(records, "records"));
    }

    @Override
    public void commitOffsets(String groupId, Map<TopicPartition, CommittedOffset> offsets) {
        commitOffsets(GroupMember.outsider(notNull(groupId, "groupId")), offsets);
    }

    @Override
    public void commitOffsets(GroupMember member, Map<TopicPartition, CommittedOffset> offsets) {
        open().requireOpen();
        notNull(member, "member");
        if (!noNulls(offsets, "offsets").isEmpty()) {
            transactor.commitOffsets(member, Map.copyOf(offsets));
        }
    }

    void close() {
        closed = true;
    }

    private Sender open() {
        if (closed) {
            throw new IllegalStateException("the transaction has ended; begin a new one with inTransaction");
        }
        return sender;
    }
}
