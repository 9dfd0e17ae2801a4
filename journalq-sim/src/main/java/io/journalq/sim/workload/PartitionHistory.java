package io.journalq.sim.workload;

import io.journalq.common.id.Uuid;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/** What clients know of one partition. */
public final class PartitionHistory {
    private final String topic;
    private final Uuid topicId;
    private final int partition;
    private final Promise promise;
    private final Map<String, Sent> sent = new HashMap<>();
    private final NavigableMap<Long, Seen> seen = new TreeMap<>();
    private final NavigableMap<Long, Integer> lostEpochs = new TreeMap<>();
    private final Set<Long> cuts = new HashSet<>();
    private long deletedUpTo;
    private long gapEnd = -1;

    /**
     * A record that was acknowledged or read.
     *
     * @param id its name
     * @param leaderEpoch in which it was written; -1 when only its acknowledgement was seen
     * @param atMs since when it is known
     * @param acknowledged whether its producer was told that it is safe
     */
    public record Seen(String id, int leaderEpoch, long atMs, boolean acknowledged) {}

    /**
     * What the topic's delivery mode and settings promise.
     *
     * @param mode its name
     * @param writeIntervalMs how long something acknowledged may be in memory only; 0 where it never is
     * @param flushIntervalMs how long something written may not be synced
     */
    public record Promise(String mode, long writeIntervalMs, long flushIntervalMs) {
        boolean isConsistent() {
            return mode.equals("consistent");
        }
    }

    /** Begins a history. */
    public PartitionHistory(String topic, Uuid topicId, int partition, Promise promise) {
        this.topic = topic;
        this.topicId = topicId;
        this.partition = partition;
        this.promise = promise;
    }

    public String topic() {
        return topic;
    }

    public Uuid topicId() {
        return topicId;
    }

    public int partition() {
        return partition;
    }

    public boolean isConsistent() {
        return promise.isConsistent();
    }

    /** Whether something is acknowledged before it is written. */
    public boolean isAcknowledgedFromMemory() {
        return promise.writeIntervalMs() > 0;
    }

    public long writeIntervalMs() {
        return promise.writeIntervalMs();
    }

    public long flushIntervalMs() {
        return promise.flushIntervalMs();
    }

    /** Remembers a record before it is sent. */
    public void add(Sent record) {
        sent.put(record.id(), record);
    }

    /** The record of that name; null when nobody sent it. */
    public Sent find(String id) {
        return sent.get(id);
    }

    /** What was acknowledged or read, by offset. */
    public NavigableMap<Long, Seen> seen() {
        return seen;
    }

    /** For offsets whose records were lost as their mode allows: the epoch in which those were written, if it is known. */
    public NavigableMap<Long, Integer> lostEpochs() {
        return lostEpochs;
    }

    /** Where the log ended after it had lost something: positions behind that were moved back to there. */
    public Set<Long> cuts() {
        return cuts;
    }

    /** Whether the last offsets may hold nothing: power loss may leave that, and it stays until something is appended. */
    public boolean mayEndInAGap(long endOffset, boolean powerLost) {
        if (powerLost) {
            gapEnd = endOffset;
        }
        return gapEnd == endOffset;
    }

    /** The largest offset before which somebody asked to delete. */
    public long deletedUpTo() {
        return deletedUpTo;
    }

    void onDelete(long offset) {
        deletedUpTo = Math.max(deletedUpTo, offset);
    }

    @Override
    public String toString() {
        return topic + "-" + partition + " (" + promise.mode() + ")";
    }
}
