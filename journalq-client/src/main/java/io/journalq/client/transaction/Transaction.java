package io.journalq.client.transaction;

import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.client.record.BatchMetadata;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.common.id.TopicPartition;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * An open transaction of a {@link io.journalq.client.Producer}. Consumers with {@code READ_COMMITTED} see either
 * everything that is sent and committed here, or nothing.
 *
 * <p>While the body of the transaction runs, any number of threads may use it. Afterwards, every call throws {@link
 * IllegalStateException}.
 */
public interface Transaction {
    /** Sends one record and blocks until it is acknowledged. See {@link io.journalq.client.Producer#send}. */
    RecordMetadata send(ProducerRecord record);

    /**
     * Sends one record without blocking. The commit waits for its acknowledgement. If it fails, the transaction is
     * aborted. See {@link io.journalq.client.Producer#sendAsync}.
     */
    CompletableFuture<RecordMetadata> sendAsync(ProducerRecord record);

    /** Sends records as one batch. See {@link io.journalq.client.Producer#sendBatch}. */
    CompletableFuture<BatchMetadata> sendBatch(String topic, int partition, List<ProducerRecord> records);

    /**
     * Commits offsets of a group as a part of the transaction.
     *
     * @param offsets by partition: the offset of the next record to read
     */
    void commitOffsets(String groupId, Map<TopicPartition, CommittedOffset> offsets);

    /**
     * Commits offsets of a group as a part of the transaction, on behalf of a member. The broker rejects them if the
     * consumer is no longer a member, so that no record is processed twice (KIP-447).
     *
     * @param member the result of {@link io.journalq.client.Consumer#groupMember}
     * @param offsets by partition: the offset of the next record to read
     * @throws io.journalq.client.error.MembershipLostException if the consumer is no longer a member
     */
    void commitOffsets(GroupMember member, Map<TopicPartition, CommittedOffset> offsets);
}
