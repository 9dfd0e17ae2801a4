package io.journalq.cli.message;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Position;
import io.journalq.client.Consumer;
import io.journalq.client.OffsetAndTimestamp;
import io.journalq.common.id.TopicPartition;
import java.time.Clock;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * The range of messages to read: where each partition starts, where it stops, and which partitions are complete. Used
 * by the thread of the consumer.
 */
final class ReadRange {
    private final Consumer consumer;
    private final Set<TopicPartition> open;
    private final Clock clock;
    /** The first offset after the range of each partition; empty if there is no end, or not yet. */
    private final Map<TopicPartition, Long> stopOffsets = new HashMap<>();

    /** The same offsets by partition number, for the check of each message. */
    private long[] stops = {};

    /** An end in the future, for which there is no offset yet. */
    private Position.Time stopTime;

    ReadRange(Consumer consumer, Set<TopicPartition> partitions, Clock clock) {
        this(consumer, clock);
        open.addAll(partitions);
        consumer.assign(partitions);
    }

    private ReadRange(Consumer consumer, Clock clock) {
        this.consumer = consumer;
        this.open = new LinkedHashSet<>();
        this.clock = clock;
    }

    /** Returns the range of a member of a group, whose partitions and positions the group decides: it has no end. */
    static ReadRange ofMember(Consumer consumer, Clock clock) {
        return new ReadRange(consumer, clock);
    }

    /** Sets the start positions. */
    void start(Position position) {
        if (position instanceof Position.Beginning) {
            consumer.seekToBeginning(open);
        } else if (position instanceof Position.End) {
            consumer.seekToEnd(open);
        } else if (position instanceof Position.Time time) {
            consumer.seekToTime(open, time.timestampMs());
        } else if (position instanceof Position.Offset wanted) {
            startAt(wanted.offset());
        }
    }

    private void startAt(long offset) {
        Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(open);
        Map<TopicPartition, Long> ends = consumer.endOffsets(open);
        for (TopicPartition partition : open) {
            long end = ends.get(partition);
            if (offset > end && open.size() == 1) {
                throw new CommandFailure("offset " + offset + " is after the end of " + partition + ", which is offset "
                        + end + "; to wait for new messages, use --from end");
            }
            // Offsets of partitions are independent, so an offset outside one of several partitions is not an error.
            consumer.seek(partition, Math.max(beginnings.get(partition), Math.min(offset, end)));
        }
    }

    /** Sets the end of the range; null for none. */
    void stopAt(Position position) {
        if (position instanceof Position.Beginning) {
            stopOffsets.putAll(consumer.beginningOffsets(open));
        } else if (position instanceof Position.End) {
            stopOffsets.putAll(consumer.endOffsets(open));
        } else if (position instanceof Position.Offset wanted) {
            open.forEach(partition -> stopOffsets.put(partition, wanted.offset()));
        } else if (position instanceof Position.Time time) {
            stopTime = time;
            resolveStopTime();
        }
        indexStops();
    }

    private void indexStops() {
        int highest = -1;
        for (TopicPartition partition : stopOffsets.keySet()) {
            highest = Math.max(highest, partition.partition());
        }
        stops = new long[highest + 1];
        Arrays.fill(stops, Long.MAX_VALUE);
        stopOffsets.forEach((partition, offset) -> stops[partition.partition()] = offset);
    }

    /** When the time has passed, no earlier message can arrive, so that an offset can be determined. */
    private void resolveStopTime() {
        if (stopTime == null || stopTime.timestampMs() > clock.millis()) {
            return;
        }
        Map<TopicPartition, Long> times = new HashMap<>();
        open.forEach(partition -> times.put(partition, stopTime.timestampMs()));
        Map<TopicPartition, OffsetAndTimestamp> found = consumer.offsetsForTimes(times);
        Map<TopicPartition, Long> ends = consumer.endOffsets(open);
        for (TopicPartition partition : open) {
            OffsetAndTimestamp first = found.get(partition);
            stopOffsets.put(partition, first == null ? ends.get(partition) : Long.valueOf(first.offset()));
        }
        stopTime = null;
        indexStops();
    }

    /** Whether a message is in the range. */
    boolean contains(int partition, long offset, long timestampMs) {
        if (stopTime != null) {
            return timestampMs < stopTime.timestampMs();
        }
        return partition >= stops.length || offset < stops[partition];
    }

    /** Whether the range is complete. Removes partitions that are complete. */
    boolean finished() {
        resolveStopTime();
        if (stopOffsets.isEmpty()) {
            return false;
        }
        boolean dropped = open.removeIf(partition -> consumer.position(partition) >= stopOffsets.get(partition));
        if (dropped && !open.isEmpty()) {
            consumer.assign(open);
        }
        return open.isEmpty();
    }
}
