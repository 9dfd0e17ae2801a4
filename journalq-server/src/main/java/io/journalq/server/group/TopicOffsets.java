package io.journalq.server.group;

import io.journalq.common.id.Uuid;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * The offsets of one group in one topic, in arrays by partition: a broker holds millions of them. A partition that lies far
 * behind the others is kept apart, so that its number costs nothing.
 */
final class TopicOffsets {
    private static final long ABSENT = -1;
    private static final int FIRST_CAPACITY = 4;

    /** Partitions may leave this many empty places for each that is used. */
    private static final int LARGEST_GAP = 64;

    private long[] offsets = new long[0];
    private int[] leaderEpochs = new int[0];
    private int[] partitionEpochs = new int[0];
    private long[] timestampsMs = new long[0];
    /** Texts by partition, for the few that have one. */
    private final Map<Integer, String> metadata = new TreeMap<>();

    private final Map<Integer, CommittedOffset> scattered = new TreeMap<>();
    private Uuid topicId = Uuid.ZERO;
    private int count;

    /** Of the texts, and of what is kept apart. */
    private long extraBytes;

    /** What is done with each partition. */
    interface Visitor {
        void visit(int partition, CommittedOffset offset);
    }

    /** What the offsets take of the heap. */
    long sizeBytes() {
        return extraBytes + (long) OffsetSizes.PLACE_BYTES * offsets.length;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** The topic that the newest offset was committed for; zero when not known. */
    Uuid topicId() {
        return topicId;
    }

    void put(int partition, CommittedOffset offset) {
        topicId = offset.topicId();
        remove(partition);
        count++;
        if (partition < 0 || partition >= offsets.length + LARGEST_GAP || offset.offset() < 0) {
            scattered.put(partition, offset);
            extraBytes += OffsetSizes.SCATTERED_BYTES + OffsetSizes.text(offset.metadata());
            return;
        }
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

    CommittedOffset get(int partition) {
        if (partition >= 0 && partition < offsets.length && offsets[partition] != ABSENT) {
            return new CommittedOffset(
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
        CommittedOffset removed = scattered.remove(partition);
        if (removed != null) {
            extraBytes -= OffsetSizes.SCATTERED_BYTES + OffsetSizes.text(removed.metadata());
            count--;
        }
    }

    /** Visits every partition, in order but for those kept apart, which come last. */
    void forEach(Visitor visitor) {
        for (int partition = 0; partition < offsets.length; partition++) {
            if (offsets[partition] != ABSENT) {
                visitor.visit(partition, get(partition));
            }
        }
        scattered.forEach(visitor::visit);
    }

    /** What is done with each partition whose offset lies behind its end. */
    interface BehindVisitor {
        void visit(int partition, CommittedOffset offset, long end);
    }

    /** Visits what lies behind the end of its partition. */
    void forEachBehind(OffsetCommits.TopicEnds ends, BehindVisitor visitor) {
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
