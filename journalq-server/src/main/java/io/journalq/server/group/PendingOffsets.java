package io.journalq.server.group;

import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.group.record.PendingOffsetKey;
import io.journalq.server.group.record.PendingOffsetValue;
import io.journalq.server.memory.MemoryAccount;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Pending offsets of open transactions, for all groups of a machine. They are found by their producer when its
 * transaction ends, and by their partition for the check whether a committed offset may still change.
 */
final class PendingOffsets {
    private static final Comparator<Place> BY_GROUP =
            Comparator.comparing(Place::groupId).thenComparing(Place::topic).thenComparingInt(Place::partition);

    private final MemoryAccount memory;
    private final NavigableMap<Place, Map<Long, Pending>> byPlace = new TreeMap<>(BY_GROUP);
    private final Map<Long, NavigableSet<Place>> placesByProducer = new TreeMap<>();

    PendingOffsets(MemoryAccount memory) {
        this.memory = memory;
    }

    private static long sizeBytes(Place place, Pending pending) {
        return OffsetSizes.pending(
                place.groupId(), place.topic(), pending.offset().metadata());
    }

    /** The group and partition of an offset. */
    record Place(String groupId, String topic, int partition) {
        /** Key of the record for a producer's offset of this partition. */
        PendingOffsetKey key(long producerId) {
            return new PendingOffsetKey()
                    .setProducerId(producerId)
                    .setGroup(groupId)
                    .setTopic(topic)
                    .setPartition(partition);
        }
    }

    /**
     * An offset that is not in effect yet.
     *
     * @param producerEpoch the epoch in which it was committed
     */
    record Pending(short producerEpoch, GroupOffset offset) {
        static Pending of(PendingOffsetValue value) {
            return new Pending(
                    value.producerEpoch(),
                    new GroupOffset(
                            value.offset(),
                            value.leaderEpoch(),
                            value.partitionEpoch(),
                            value.metadata(),
                            value.commitTimestamp(),
                            value.topicId()));
        }

        PendingOffsetValue toRecord() {
            return new PendingOffsetValue()
                    .setProducerEpoch(producerEpoch)
                    .setOffset(offset.offset())
                    .setLeaderEpoch(offset.leaderEpoch())
                    .setPartitionEpoch(offset.partitionEpoch())
                    .setMetadata(offset.metadata())
                    .setCommitTimestamp(offset.commitTimestampMs())
                    .setTopicId(offset.topicId());
        }
    }

    /** Visits pending offsets. */
    interface Visitor {
        void visit(Place place, long producerId, Pending pending);
    }

    void replay(PendingOffsetKey key, PendingOffsetValue value) {
        Place place = new Place(key.group(), key.topic(), key.partition());
        if (value == null) {
            remove(place, key.producerId());
        } else {
            Pending added = Pending.of(value);
            Pending before =
                    byPlace.computeIfAbsent(place, absent -> new TreeMap<>()).put(key.producerId(), added);
            memory.add(sizeBytes(place, added) - (before == null ? 0 : sizeBytes(place, before)));
            placesByProducer
                    .computeIfAbsent(key.producerId(), absent -> new TreeSet<>(BY_GROUP))
                    .add(place);
        }
    }

    private void remove(Place place, long producerId) {
        Map<Long, Pending> here = byPlace.get(place);
        Pending removed = here == null ? null : here.remove(producerId);
        if (removed == null) {
            return;
        }
        memory.add(-sizeBytes(place, removed));
        if (here.isEmpty()) {
            byPlace.remove(place);
        }
        NavigableSet<Place> ofProducer = placesByProducer.get(producerId);
        ofProducer.remove(place);
        if (ofProducer.isEmpty()) {
            placesByProducer.remove(producerId);
        }
    }

    boolean contains(String groupId, String topic, int partition) {
        return byPlace.containsKey(new Place(groupId, topic, partition));
    }

    boolean contains(String groupId) {
        Place first = byPlace.ceilingKey(firstOf(groupId));
        return first != null && first.groupId().equals(groupId);
    }

    /** Groups with pending offsets. */
    SortedSet<String> groupIds() {
        SortedSet<String> groupIds = new TreeSet<>();
        byPlace.keySet().forEach(place -> groupIds.add(place.groupId()));
        return groupIds;
    }

    /**
     * An offset that a producer commits now, with a later time than the offsets of other transactions here: the clock may
     * be behind that of an earlier coordinator, and two commits may have the same millisecond.
     */
    GroupOffset newest(Place place, long producerId, GroupOffset offset) {
        long timestampMs = offset.commitTimestampMs();
        for (Map.Entry<Long, Pending> other :
                byPlace.getOrDefault(place, Map.of()).entrySet()) {
            if (other.getKey() != producerId) {
                timestampMs = Math.max(timestampMs, other.getValue().offset().commitTimestampMs() + 1);
            }
        }
        return offset.committedAt(timestampMs);
    }

    /**
     * Adds tombstones of offsets that other transactions committed before one that takes effect, and that would replace
     * it when they end.
     *
     * @param committedMs when that one was committed, in milliseconds since 1970 UTC
     */
    void addTombstonesOfOlder(Place place, long committedMs, List<CoordinatorRecord> records) {
        forEachAt(place, (samePlace, producerId, older) -> {
            if (older.offset().commitTimestampMs() < committedMs) {
                records.add(tombstone(place, producerId));
            }
        });
    }

    /** Visits the pending offsets of one partition of a group. */
    void forEachAt(Place place, Visitor visitor) {
        byPlace.getOrDefault(place, Map.of())
                .forEach((producerId, pending) -> visitor.visit(place, producerId, pending));
    }

    /** Visits the pending offsets of a producer's transaction. */
    void forEachOf(long producerId, Visitor visitor) {
        for (Place place : placesByProducer.getOrDefault(producerId, Collections.emptyNavigableSet())) {
            visitor.visit(place, producerId, byPlace.get(place).get(producerId));
        }
    }

    /** Visits the pending offsets of a group. */
    void forEachIn(String groupId, Visitor visitor) {
        for (Map.Entry<Place, Map<Long, Pending>> entry :
                byPlace.tailMap(firstOf(groupId), true).entrySet()) {
            if (!entry.getKey().groupId().equals(groupId)) {
                return;
            }
            entry.getValue().forEach((producerId, pending) -> visitor.visit(entry.getKey(), producerId, pending));
        }
    }

    void forEach(Visitor visitor) {
        byPlace.forEach(
                (place, here) -> here.forEach((producerId, pending) -> visitor.visit(place, producerId, pending)));
    }

    private static Place firstOf(String groupId) {
        return new Place(groupId, "", Integer.MIN_VALUE);
    }

    static CoordinatorRecord tombstone(Place place, long producerId) {
        return CoordinatorRecord.tombstone(place.key(producerId));
    }
}
