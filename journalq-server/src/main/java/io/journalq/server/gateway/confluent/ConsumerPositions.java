package io.journalq.server.gateway.confluent;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.gateway.consume.SeatOffsets;
import io.journalq.server.gateway.consume.Tail;
import io.journalq.server.gateway.http.LastingCaller;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * The partitions of a {@link ConsumerInstance}, and how far its client is in each of them. Their number is bounded, and
 * they are charged to the session of the instance. On the loop of the instance.
 */
final class ConsumerPositions {
    /** Partitions of one instance. */
    static final int MAX_PARTITIONS = 1_000;

    /** Estimated heap of a partition. */
    private static final int PARTITION_BYTES = 700;

    private final LastingCaller caller;
    private final Tail tail;

    /** The partitions, and the same by their numbers in {@link #tail}. */
    private final Map<TopicPartition, Assigned> assigned = new LinkedHashMap<>();

    private final Map<Integer, Assigned> byNumber = new HashMap<>();

    /** The partitions with a position, in the order of their turns. */
    private final Set<Integer> turns = new LinkedHashSet<>();

    private int lastNumber;

    /** A partition. */
    static final class Assigned {
        final TopicPartition name;
        final int number;

        /** Behind the last record that the client has received; -1 if the position is not known. */
        long delivered = -1;

        /** Behind the last record that it had received when it asked for more. It has processed this one. */
        long processed = -1;

        /** As far as known. */
        long committed = -1;

        Assigned(TopicPartition name, int number) {
            this.name = name;
            this.number = number;
        }

        long chargedBytes() {
            return PARTITION_BYTES + 2L * name.topic().length();
        }
    }

    ConsumerPositions(LastingCaller caller) {
        this.caller = caller;
        this.tail = new Tail(caller, this::name, Tail.FETCH_BYTES);
    }

    /** Reads the partitions, by their numbers. */
    Tail tail() {
        return tail;
    }

    TopicPartition name(int number) {
        return byNumber.get(number).name;
    }

    /** A partition as problems name it. A fetch without a response fails for no partition in particular. */
    String described(int number) {
        Assigned partition = byNumber.get(number);
        return partition == null ? "the partitions of the consumer instance" : "partition " + partition.name;
    }

    /** A partition; null if the instance does not have it. */
    Assigned get(TopicPartition name) {
        return assigned.get(name);
    }

    List<Assigned> all() {
        return List.copyOf(assigned.values());
    }

    Set<TopicPartition> names() {
        return Set.copyOf(assigned.keySet());
    }

    /** Adds a partition without a position. Returns a problem if there is no room, otherwise null. */
    Problem add(TopicPartition name) {
        lastNumber++;
        Assigned added = new Assigned(name, lastNumber);
        if (assigned.size() >= MAX_PARTITIONS) {
            return new Problem(
                    ProblemType.CONFLICT,
                    "the consumer instance would have more than " + MAX_PARTITIONS + " partitions",
                    "create more instances in the group before, or read fewer topics");
        }
        if (!caller.charge(added.chargedBytes())) {
            return ConsumerInstance.noMemory();
        }
        assigned.put(name, added);
        byNumber.put(added.number, added);
        return null;
    }

    void drop(Assigned partition) {
        assigned.remove(partition.name);
        turns.remove(partition.number);
        tail.forget(partition.number);
        byNumber.remove(partition.number);
        caller.charge(-partition.chargedBytes());
    }

    void dropAll() {
        all().forEach(this::drop);
    }

    /** Continues at this offset. */
    void set(Assigned partition, long offset) {
        tail.seek(partition.number, offset);
        turns.add(partition.number);
        partition.delivered = offset;
        partition.processed = offset;
    }

    /** Forgets the position of a partition, and returns the partition. */
    Assigned forget(int number) {
        Assigned partition = byNumber.get(number);
        turns.remove(number);
        tail.forget(number);
        partition.delivered = -1;
        partition.processed = -1;
        return partition;
    }

    /** Whether the position of a partition is known. */
    boolean isKnown(Assigned partition) {
        return turns.contains(partition.number);
    }

    /** A partition whose position is not known; null if there is none. */
    TopicPartition anyWithoutPosition() {
        return assigned.values().stream()
                .filter(each -> !turns.contains(each.number))
                .map(each -> each.name)
                .findFirst()
                .orElse(null);
    }

    /** The numbers of the partitions to read, in the order of their turns. */
    List<Integer> readable() {
        return List.copyOf(turns);
    }

    /** A partition had its turn. */
    void endTurn(int number) {
        if (turns.remove(number)) {
            turns.add(number);
        }
    }

    /** The client has received everything before the positions of the tail. */
    void onDelivered() {
        for (Assigned each : assigned.values()) {
            each.delivered = tail.positions().getOrDefault(each.number, -1L);
        }
    }

    /** The client has not received what was read from these positions on. */
    void onUndelivered(Map<Integer, Long> before) {
        tail.drop();
        before.forEach((number, offset) -> {
            if (turns.contains(number)) {
                tail.seek(number, offset);
            }
        });
    }

    /** The client asks for more, so that it has processed what it had received. */
    void onProcessed() {
        for (Assigned each : assigned.values()) {
            each.processed = each.delivered;
        }
    }

    /** The positions that are not committed yet. They count as committed from here. */
    static Map<TopicPartition, SeatOffsets.Committed> takeUncommitted(
            Collection<Assigned> partitions, ToLongFunction<Assigned> position) {
        Map<TopicPartition, SeatOffsets.Committed> offsets = new LinkedHashMap<>();
        for (Assigned each : partitions) {
            long offset = position.applyAsLong(each);
            if (offset >= 0 && offset != each.committed) {
                each.committed = offset;
                offsets.put(each.name, new SeatOffsets.Committed(offset, ""));
            }
        }
        return offsets;
    }
}
