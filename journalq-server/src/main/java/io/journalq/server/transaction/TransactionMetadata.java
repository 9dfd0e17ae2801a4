package io.journalq.server.transaction;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.memory.TextSize;
import io.journalq.server.transaction.record.TransactionLogKey;
import io.journalq.server.transaction.record.TransactionLogValue;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** The durable state of one transactional id: its newest record. Immutable; each change creates a new instance. */
final class TransactionMetadata {
    static final long NO_PRODUCER_ID = -1;
    static final long NOT_STARTED = -1;

    /** The last epoch assigned to a producer; the epoch after it is used only to fence that producer. */
    static final short LAST_EPOCH = Short.MAX_VALUE - 1;

    /** Estimated heap size of an id without partitions, with its deadline and its entries in maps. */
    static final int ID_BYTES = 500;

    /** Estimated heap size of a partition, with its element in the record. */
    private static final int PARTITION_BYTES = 180;

    private static final Comparator<TopicPartition> BY_NAME =
            Comparator.comparing(TopicPartition::topic).thenComparingInt(TopicPartition::partition);

    private final String id;
    private final TransactionLogValue value;
    private final TransactionState state;
    private final SortedSet<TopicPartition> partitions = new TreeSet<>(BY_NAME);

    private TransactionMetadata(String id, TransactionLogValue value, TransactionState state) {
        this.id = id;
        this.value = value;
        this.state = state;
        if (value.transactionPartitions() != null) {
            for (TransactionLogValue.PartitionsSchema topic : value.transactionPartitions()) {
                topic.partitionIds().forEach(number -> partitions.add(new TopicPartition(topic.topic(), number)));
            }
        }
    }

    /** Decodes a record; null if this release does not know its state. */
    static TransactionMetadata of(TransactionLogKey key, TransactionLogValue value) {
        TransactionState state = TransactionState.of(value.transactionStatus());
        return state == null ? null : new TransactionMetadata(key.transactionalId(), value, state);
    }

    /** The first producer of a new id. */
    static TransactionMetadata create(String id, long producerId, int timeoutMs, long nowMs) {
        return new TransactionMetadata(
                id,
                new TransactionLogValue()
                        .setProducerId(producerId)
                        .setProducerEpoch((short) 0)
                        .setTransactionTimeoutMs(timeoutMs)
                        .setTransactionStatus(TransactionState.EMPTY.id())
                        .setTransactionPartitions(null)
                        .setTransactionStartTimestampMs(NOT_STARTED)
                        .setTransactionLastUpdateTimestampMs(nowMs),
                TransactionState.EMPTY);
    }

    CoordinatorRecord toRecord() {
        return new CoordinatorRecord(new TransactionLogKey().setTransactionalId(id), value);
    }

    /** Estimated heap size. */
    long sizeBytes() {
        long bytes = (long) ID_BYTES + TextSize.bytes(id);
        for (TopicPartition partition : partitions) {
            bytes += sizeOf(partition);
        }
        return bytes;
    }

    /** By how many bytes it grows with more partitions. */
    long growthBytes(Collection<TopicPartition> added) {
        long bytes = 0;
        for (TopicPartition partition : added) {
            bytes += partitions.contains(partition) ? 0 : sizeOf(partition);
        }
        return bytes;
    }

    private static long sizeOf(TopicPartition partition) {
        return (long) PARTITION_BYTES + TextSize.bytes(partition.topic());
    }

    String id() {
        return id;
    }

    TransactionState state() {
        return state;
    }

    long producerId() {
        return value.producerId();
    }

    short epoch() {
        return value.producerEpoch();
    }

    long previousProducerId() {
        return value.previousProducerId();
    }

    int timeoutMs() {
        return value.transactionTimeoutMs();
    }

    long startMs() {
        return value.transactionStartTimestampMs();
    }

    long lastUpdateMs() {
        return value.transactionLastUpdateTimestampMs();
    }

    short version() {
        return value.clientTransactionVersion();
    }

    SortedSet<TopicPartition> partitions() {
        return Collections.unmodifiableSortedSet(partitions);
    }

    /** Whether no more epochs are available for the producer id. */
    boolean isExhausted() {
        return epoch() >= LAST_EPOCH;
    }

    /** The producer restarts with the next epoch. */
    TransactionMetadata withNextEpoch(int timeoutMs, long nowMs) {
        return idle(nowMs, value().setProducerEpoch((short) (epoch() + 1)).setTransactionTimeoutMs(timeoutMs));
    }

    /** The producer restarts with a new producer id. */
    TransactionMetadata withNewId(long producerId, int timeoutMs, long nowMs) {
        return idle(
                nowMs,
                value().setPreviousProducerId(producerId())
                        .setProducerId(producerId)
                        .setProducerEpoch((short) 0)
                        .setTransactionTimeoutMs(timeoutMs));
    }

    private TransactionMetadata idle(long nowMs, TransactionLogValue changed) {
        changed.setTransactionStartTimestampMs(NOT_STARTED).setTransactionPartitions(null);
        return as(TransactionState.EMPTY, nowMs, changed);
    }

    /** The same transaction, which began at another time. */
    TransactionMetadata begunAt(long startMs) {
        return as(state, lastUpdateMs(), value().setTransactionStartTimestampMs(startMs));
    }

    /** Adds partitions; starts a transaction unless one is open. */
    TransactionMetadata withPartitions(Collection<TopicPartition> added, short version, long nowMs) {
        SortedSet<TopicPartition> all = new TreeSet<>(BY_NAME);
        boolean open = state == TransactionState.ONGOING;
        if (open) {
            all.addAll(partitions);
        }
        all.addAll(added);
        TransactionLogValue changed =
                value().setTransactionPartitions(encode(all)).setClientTransactionVersion(version);
        if (!open) {
            changed.setTransactionStartTimestampMs(nowMs);
        }
        return as(TransactionState.ONGOING, nowMs, changed);
    }

    /**
     * Decides how the transaction ends.
     *
     * @param epoch the epoch of the markers
     * @param nextProducerId the producer id after the transaction if that epoch is the last one; else
     *     {@link #NO_PRODUCER_ID}
     */
    TransactionMetadata decided(boolean commit, short epoch, long nextProducerId, short version, long nowMs) {
        TransactionLogValue changed = value().setProducerEpoch(epoch)
                .setNextProducerId(nextProducerId)
                .setClientTransactionVersion(version);
        if (state != TransactionState.ONGOING) {
            changed.setTransactionStartTimestampMs(nowMs).setTransactionPartitions(null);
        }
        if (nextProducerId != NO_PRODUCER_ID) {
            changed.setNextProducerEpoch((short) 0);
        }
        return as(commit ? TransactionState.PREPARE_COMMIT : TransactionState.PREPARE_ABORT, nowMs, changed);
    }

    /** All partitions have their markers. */
    TransactionMetadata completed(long nowMs) {
        TransactionLogValue changed = value().setTransactionPartitions(null)
                .setNextProducerId(NO_PRODUCER_ID)
                .setNextProducerEpoch((short) -1);
        if (value.nextProducerId() != NO_PRODUCER_ID) {
            changed.setPreviousProducerId(producerId())
                    .setProducerId(value.nextProducerId())
                    .setProducerEpoch((short) 0);
        }
        return as(
                state == TransactionState.PREPARE_COMMIT
                        ? TransactionState.COMPLETE_COMMIT
                        : TransactionState.COMPLETE_ABORT,
                nowMs,
                changed);
    }

    /** The producer id after the decided transaction is complete. */
    long producerIdAfterwards() {
        return value.nextProducerId() == NO_PRODUCER_ID ? producerId() : value.nextProducerId();
    }

    /** The epoch after the decided transaction is complete. */
    short epochAfterwards() {
        return value.nextProducerId() == NO_PRODUCER_ID ? epoch() : 0;
    }

    private TransactionMetadata as(TransactionState newState, long nowMs, TransactionLogValue changed) {
        // The timestamp never decreases, even if the clock is set back.
        changed.setTransactionStatus(newState.id())
                .setTransactionLastUpdateTimestampMs(Math.max(nowMs, lastUpdateMs()));
        return new TransactionMetadata(id, changed, newState);
    }

    private TransactionLogValue value() {
        return new TransactionLogValue()
                .setProducerId(value.producerId())
                .setPreviousProducerId(value.previousProducerId())
                .setNextProducerId(value.nextProducerId())
                .setProducerEpoch(value.producerEpoch())
                .setNextProducerEpoch(value.nextProducerEpoch())
                .setTransactionTimeoutMs(value.transactionTimeoutMs())
                .setTransactionPartitions(value.transactionPartitions())
                .setTransactionStartTimestampMs(value.transactionStartTimestampMs())
                .setClientTransactionVersion(value.clientTransactionVersion());
    }

    private static List<TransactionLogValue.PartitionsSchema> encode(SortedSet<TopicPartition> partitions) {
        SortedMap<String, List<Integer>> byTopic = new TreeMap<>();
        for (TopicPartition partition : partitions) {
            byTopic.computeIfAbsent(partition.topic(), topic -> new ArrayList<>())
                    .add(partition.partition());
        }
        List<TransactionLogValue.PartitionsSchema> encoded = new ArrayList<>();
        byTopic.forEach((topic, numbers) -> encoded.add(
                new TransactionLogValue.PartitionsSchema().setTopic(topic).setPartitionIds(numbers)));
        return encoded;
    }
}
