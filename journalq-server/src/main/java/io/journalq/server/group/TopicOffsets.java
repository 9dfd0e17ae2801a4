package io.journalq.server.group;

import io.journalq.common.id.Uuid;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import java.util.function.Predicate;

/**
 * The offsets of one group in one topic, in arrays by partition, because a broker holds millions of them. A partition
 * whose number is far above the others is stored separately, so that high numbers use no memory. An offset of another
 * topic with the same name is stored separately, too, while there are offsets of the deleted one.
 */
final class TopicOffsets {
    private static final long ABSENT = -1;
    private static final int FIRST_CAPACITY = 4;

    /** Maximum number of unused elements for each used one. */
    private static final int LARGEST_GAP = 64;

    private long[] offsets = new long[0];
    private int[] leaderEpochs = new int[0];
    private int[] partitionEpochs = new int[0];
    private long[] timestampsMs = new long[0];
    /** Metadata by partition, for the few offsets that have any. */
    private final Map<Integer, String> metadata = new TreeMap<>();

    private final Map<Integer, GroupOffset> scattered = new TreeMap<>();
    private Uuid topicId = Uuid.ZERO;
    private int count;

    /** Size of the metadata and of the partitions that are stored separately. */
    private long extraBytes;

    /** Visits partitions. */
    interface Visitor {
        void visit(int partition, GroupOffset offset);
    }

    /** Estimated heap size of the offsets. */
    long sizeBytes() {
        return extraBytes + (long) OffsetSizes.PLACE_BYTES * offsets.length;
    }

    boolean isEmpty() {
        return count == 0;
    }

    void put(int partition, GroupOffset offset) {
        remove(partition);
        boolean isOfOther = !offset.topicId().equals(topicId) && count > scattered.size();
        count++;
        if (isOfOther || partition < 0 || partition >= offsets.length + LARGEST_GAP || offset.offset() < 0) {
            scattered.put(partition, offset);
            extraBytes += OffsetSizes.SCATTERED_BYTES + OffsetSizes.text(offset.metadata());
            return;
        }
        topicId = offset.topicId();
        grow(partition);
        offsets[partition] = offset.offset();
        leaderEpochs[partition] = offset.leaderEpoch();
        partitionEpochs[partition] = offset.partitionEpoch();
        timestampsMs[partition] = offset.commitTimestampMs();
        if (!offset.metadata().isEmpty()) {
            metadata.put(partition, offset.metadata());
            extraBytes += OffsetSizes.text(offset.metadata());
        }
    }

    GroupOffset get(int partition) {
        if (partition >= 0 && partition < offsets.length && offsets[partition] != ABSENT) {
            return new GroupOffset(
                    offsets[partition],
                    leaderEpochs[partition],
                    partitionEpochs[partition],
                    metadata.getOrDefault(partition, ""),
                    timestampsMs[partition],
                    topicId);
        }
        return scattered.get(partition);
    }

    void remove(int partition) {
        if (partition >= 0 && partition < offsets.length && offsets[partition] != ABSENT) {
            offsets[partition] = ABSENT;
            extraBytes -= OffsetSizes.text(metadata.remove(partition));
            count--;
            return;
        }
        GroupOffset removed = scattered.remove(partition);
        if (removed != null) {
            extraBytes -= OffsetSizes.SCATTERED_BYTES + OffsetSizes.text(removed.metadata());
            count--;
        }
    }

    /** Visits every partition in order, and then the partitions that are stored separately. */
    void forEach(Visitor visitor) {
        for (int partition = 0; partition < offsets.length; partition++) {
            if (offsets[partition] != ABSENT) {
                visitor.visit(partition, get(partition));
            }
        }
        scattered.forEach(visitor::visit);
    }

    /** Visits the partitions whose offset is of a topic id that {@code isGone} selects. */
    void forEachGone(Predicate<Uuid> isGone, IntConsumer visitor) {
        if (count > scattered.size() && isGone.test(topicId)) {
            for (int partition = 0; partition < offsets.length; partition++) {
                if (offsets[partition] != ABSENT) {
                    visitor.accept(partition);
                }
            }
        }
        scattered.forEach((partition, offset) -> {
            if (isGone.test(offset.topicId())) {
                visitor.accept(partition);
            }
        });
    }

    /** Visits partitions whose offset lies behind their end. */
    interface BehindVisitor {
        void visit(int partition, GroupOffset offset, long end);
    }

    /** Visits every partition whose offset lies behind its end. */
    void forEachBehind(OffsetTruncation.TopicEnds ends, BehindVisitor visitor) {
        for (int partition = 0; partition < offsets.length; partition++) {
            if (offsets[partition] != ABSENT) {
                int epoch = leaderEpochs[partition] >= 0 ? leaderEpochs[partition] : partitionEpochs[partition];
                long end = ends.endOf(partition, epoch);
                if (end >= 0 && offsets[partition] > end) {
                    visitor.visit(partition, get(partition), end);
                }
            }
        }
        scattered.forEach((partition, offset) -> {
            long end = ends.endOf(partition, offset.newestEpoch());
            if (end >= 0 && offset.offset() > end) {
                visitor.visit(partition, offset, end);
            }
        });
    }

    private void grow(int partition) {
        int old = offsets.length;
        if (partition < old) {
            return;
        }
        int capacity = Math.max(FIRST_CAPACITY, Math.max(partition + 1, old + (old >> 1)));
        offsets = Arrays.copyOf(offsets, capacity);
        Arrays.fill(offsets, old, capacity, ABSENT);
        leaderEpochs = Arrays.copyOf(leaderEpochs, capacity);
        partitionEpochs = Arrays.copyOf(partitionEpochs, capacity);
        timestampsMs = Arrays.copyOf(timestampsMs, capacity);
    }
}
