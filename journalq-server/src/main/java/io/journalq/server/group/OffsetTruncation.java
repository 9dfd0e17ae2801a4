package io.journalq.server.group;

import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntUnaryOperator;

/**
 * Moves committed offsets back when their partitions have lost records, in effect and in open transactions. Otherwise,
 * a group would skip the records that are written at the same offsets later. On the thread of the machine.
 */
public final class OffsetTruncation {
    private final CommittedOffsets offsets;
    private final Outbox outbox;

    OffsetTruncation(CommittedOffsets offsets, Outbox outbox) {
        this.offsets = offsets;
        this.outbox = outbox;
    }

    /** The ends of partitions. */
    public interface PartitionEnds {
        /**
         * Offset behind the last record that was written in {@code leaderEpoch} or before; negative if unknown.
         *
         * @param leaderEpoch -1 for all records
         */
        long endOf(String topic, int partition, int leaderEpoch);

        /** The ends for one topic, because there may be a million offsets in only a few topics. */
        default TopicEnds ofTopic(String topic) {
            return (partition, leaderEpoch) -> endOf(topic, partition, leaderEpoch);
        }
    }

    /** The ends of the partitions of one topic. */
    public interface TopicEnds {
        /** Like {@link PartitionEnds#endOf}. */
        long endOf(int partition, int leaderEpoch);
    }

    /** A partition and the newest leader epoch of a position in it. */
    public record PartitionEpoch(String topic, int partition, int epoch) {}

    /** The recovery epochs of topics, see {@link #olderThan}. */
    public interface RecoveryEpochs {
        /** The epochs by partition, -1 for none; null if no partition of the topic has one. */
        IntUnaryOperator of(String topic);
    }

    /**
     * Moves back each offset that lies behind the end of its partition, or behind the end of the epoch in which it was
     * read: a partition that lost its tail may have grown past that offset since then.
     *
     * @param kept runs once the change is safe. A machine that is loaded before that is corrected
     *     {@linkplain #moveBackInMemory in memory}
     * @return the number of offsets moved
     */
    public int moveBack(PartitionEnds ends, Runnable kept) {
        List<CoordinatorRecord> moved = behind(ends);
        OffsetAppends.append(outbox, moved);
        outbox.whenSafe(kept);
        return moved.size();
    }

    /** The same without appending, so that groups are served correctly even if the disk fails. */
    public void moveBackInMemory(PartitionEnds ends) {
        behind(ends).forEach(offsets::replay);
    }

    private List<CoordinatorRecord> behind(PartitionEnds ends) {
        List<CoordinatorRecord> records = new ArrayList<>();
        offsets.forEachTopic((groupId, topic, ofTopic) -> ofTopic.forEachBehind(
                ends.ofTopic(topic),
                (partition, offset, end) -> records.add(new CoordinatorRecord(
                        CommittedOffsets.key(groupId, topic, partition),
                        offset.movedBackTo(end).toRecord()))));
        offsets.forEachPending((place, producerId, held) -> {
            long end =
                    ends.endOf(place.topic(), place.partition(), held.offset().newestEpoch());
            if (end >= 0 && held.offset().offset() > end) {
                PendingOffsets.Pending back = new PendingOffsets.Pending(
                        held.producerEpoch(), held.offset().movedBackTo(end));
                records.add(new CoordinatorRecord(place.key(producerId), back.toRecord()));
            }
        });
        return records;
    }

    /**
     * The partitions and leader epochs of all offsets that are older than the last leader epoch which began without
     * some records.
     */
    public List<PartitionEpoch> olderThan(RecoveryEpochs recoveries) {
        Set<PartitionEpoch> found = new LinkedHashSet<>();
        offsets.forEachTopic((groupId, topic, ofTopic) -> {
            IntUnaryOperator epochs = recoveries.of(topic);
            if (epochs != null) {
                ofTopic.forEach((partition, offset) -> addOlder(found, topic, partition, offset, epochs));
            }
        });
        offsets.forEachPending((place, producerId, held) -> {
            IntUnaryOperator epochs = recoveries.of(place.topic());
            if (epochs != null) {
                addOlder(found, place.topic(), place.partition(), held.offset(), epochs);
            }
        });
        return List.copyOf(found);
    }

    private static void addOlder(
            Set<PartitionEpoch> found, String topic, int partition, GroupOffset offset, IntUnaryOperator epochs) {
        int epoch = offset.newestEpoch();
        if (epoch >= 0 && epoch < epochs.applyAsInt(partition)) {
            found.add(new PartitionEpoch(topic, partition, epoch));
        }
    }
}
