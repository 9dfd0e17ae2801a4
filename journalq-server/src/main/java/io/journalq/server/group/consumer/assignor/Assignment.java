package io.journalq.server.group.consumer.assignor;

import io.journalq.common.id.Uuid;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A set of partitions by topic. Immutable. Memory use is proportional to the partition numbers. Never create an
 * instance from the partitions that a client reports: numbers must come from topics or from our own records.
 */
public final class Assignment {
    /** No partitions. */
    public static final Assignment EMPTY = new Assignment(new TreeMap<>());

    private final SortedMap<Uuid, BitSet> partitionsByTopic;

    private Assignment(SortedMap<Uuid, BitSet> partitionsByTopic) {
        this.partitionsByTopic = partitionsByTopic;
    }

    /** Visits partitions. */
    public interface Visitor {
        void visit(Uuid topicId, int partition);
    }

    /** Accepts or rejects a partition. */
    public interface Filter {
        boolean accepts(Uuid topicId, int partition);
    }

    /** Collects partitions. Not thread-safe. */
    public static final class Builder {
        private final SortedMap<Uuid, BitSet> partitionsByTopic = new TreeMap<>();

        /** Adds a partition; adding it again changes nothing. */
        public Builder add(Uuid topicId, int partition) {
            partitionsByTopic.computeIfAbsent(topicId, id -> new BitSet()).set(partition);
            return this;
        }

        /** Adds all partitions of {@code other}. */
        public Builder addAll(Assignment other) {
            other.partitionsByTopic.forEach((topicId, partitions) -> partitionsByTopic
                    .computeIfAbsent(topicId, id -> new BitSet())
                    .or(partitions));
            return this;
        }

        /** Returns the added partitions and empties the builder. */
        public Assignment build() {
            if (partitionsByTopic.isEmpty()) {
                return EMPTY;
            }
            Assignment built = new Assignment(new TreeMap<>(partitionsByTopic));
            partitionsByTopic.clear();
            return built;
        }
    }

    public boolean isEmpty() {
        return partitionsByTopic.isEmpty();
    }

    /** Number of topics. */
    public int topicCount() {
        return partitionsByTopic.size();
    }

    /** Number of partitions. */
    public int size() {
        int size = 0;
        for (BitSet partitions : partitionsByTopic.values()) {
            size += partitions.cardinality();
        }
        return size;
    }

    /** Whether it contains the partition; any number is allowed. */
    public boolean contains(Uuid topicId, int partition) {
        BitSet partitions = partitionsByTopic.get(topicId);
        return partitions != null && partition >= 0 && partitions.get(partition);
    }

    /** The topics whose partitions it contains. */
    public SortedSet<Uuid> topicIds() {
        return Collections.unmodifiableSortedSet(new TreeSet<>(partitionsByTopic.keySet()));
    }

    /** The partitions of one topic, ascending. */
    public List<Integer> partitions(Uuid topicId) {
        List<Integer> numbers = new ArrayList<>();
        BitSet partitions = partitionsByTopic.getOrDefault(topicId, new BitSet());
        partitions.stream().forEach(numbers::add);
        return numbers;
    }

    /** Visits every partition, by topic id and number. */
    public void forEach(Visitor visitor) {
        partitionsByTopic.forEach(
                (topicId, partitions) -> partitions.stream().forEach(partition -> visitor.visit(topicId, partition)));
    }

    /** The partitions that {@code filter} accepts. */
    public Assignment filter(Filter filter) {
        Builder kept = new Builder();
        forEach((topicId, partition) -> {
            if (filter.accepts(topicId, partition)) {
                kept.add(topicId, partition);
            }
        });
        return kept.build();
    }

    /** The partitions that are in both. */
    public Assignment intersection(Assignment other) {
        return filter(other::contains);
    }

    /** The partitions that {@code other} does not contain. */
    public Assignment minus(Assignment other) {
        return filter((topicId, partition) -> !other.contains(topicId, partition));
    }

    /** The partitions that are in either. */
    public Assignment union(Assignment other) {
        return new Builder().addAll(this).addAll(other).build();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Assignment that && partitionsByTopic.equals(that.partitionsByTopic);
    }

    @Override
    public int hashCode() {
        return partitionsByTopic.hashCode();
    }

    @Override
    public String toString() {
        return partitionsByTopic.toString();
    }
}
