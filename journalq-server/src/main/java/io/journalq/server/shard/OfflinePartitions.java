package io.journalq.server.shard;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The partitions of this broker whose files cannot be used, or, if they have other replicas, cannot be written. Any thread.
 */
public final class OfflinePartitions {
    private final Map<PartitionKey, TopicPartition> names = new ConcurrentHashMap<>();
    private final AtomicLong changes = new AtomicLong();

    OfflinePartitions() {}

    void add(Uuid topicId, TopicPartition name) {
        if (names.put(new PartitionKey(topicId, name.partition()), name) == null) {
            changes.incrementAndGet();
        }
    }

    /** Removes a partition that has left this broker. */
    void forget(PartitionKey partition) {
        if (names.remove(partition) != null) {
            changes.incrementAndGet();
        }
    }

    /** Removes a topic; returns the numbers of its partitions that were offline. */
    List<Integer> forget(Uuid topicId) {
        List<Integer> numbers = names.keySet().stream()
                .filter(key -> key.topicId().equals(topicId))
                .map(PartitionKey::partition)
                .toList();
        numbers.forEach(number -> names.remove(new PartitionKey(topicId, number)));
        changes.incrementAndGet();
        return numbers;
    }

    public boolean contains(Uuid topicId, int partition) {
        return !names.isEmpty() && names.containsKey(new PartitionKey(topicId, partition));
    }

    /** Incremented with every change. */
    public long changes() {
        return changes.get();
    }

    /** The error for a partition that no shard hosts: its disk failed, or this broker does not have it. */
    public ErrorCode errorOfMissing(Uuid topicId, int partition) {
        return contains(topicId, partition) ? ErrorCode.KAFKA_STORAGE_ERROR : ErrorCode.NOT_LEADER_OR_FOLLOWER;
    }

    public int count() {
        return names.size();
    }

    /** Numbers of the partitions, by topic id. */
    public Map<Uuid, List<Integer>> numbers() {
        return names.keySet().stream()
                .collect(groupingBy(PartitionKey::topicId, mapping(PartitionKey::partition, toList())));
    }

    /** Names of at most {@code limit} offline partitions, in order. */
    public List<String> names(int limit) {
        return names.values().stream()
                .map(TopicPartition::toString)
                .sorted()
                .limit(limit)
                .toList();
    }
}
