package io.journalq.client.transaction;

import io.journalq.client.BatchMetadata;
import io.journalq.client.ProducerRecord;
import io.journalq.client.RecordMetadata;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.common.id.TopicPartition;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * An open transaction of a {@link io.journalq.client.Producer}: what is sent and committed here is there for readers of
 * committed records as a whole, or not at all. Any number of threads may send while the body runs; afterwards every call
 * throws {@link IllegalStateException}.
 */
public interface Transaction {
    /** Sends one record and waits until it is in the journal; readers of committed records see it after the commit. */
    RecordMetadata send(ProducerRecord record);

    /** Sends without waiting. The commit waits for it, and a record that fails aborts the transaction. */
    CompletableFuture<RecordMetadata> sendAsync(ProducerRecord record);

    /** Ships records as one batch; see {@link io.journalq.client.Producer#sendBatch}. */
    CompletableFuture<BatchMetadata> sendBatch(String topic, int partition, List<ProducerRecord> records);

    /**
     * Commits a group's offsets with the transaction: what was read and what was made of it are then safe together.
     *
     * @param offsets by partition, of the next record to read
     */
    void commitOffsets(String groupId, Map<TopicPartition, CommittedOffset> offsets);

    /**
     * As {@link #commitOffsets(String, Map)}, for a consumer that is a member of the group: refused when the group went on
     * without it, so that nothing is done twice (KIP-447).
     *
     * @param member as {@code Consumer.groupMember()} has it
     * @throws io.journalq.client.error.MembershipLostException when it is no member any more
     */
    void commitOffsets(GroupMember member, Map<TopicPartition, CommittedOffset> offsets);
}
