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
    private static final int KEYS = 6;
    private static final int TOMBSTONE_ODDS = 6;

    private final Topic topic;
    private final int partition;
    private final Map<String, SentRecord> sent = new HashMap<>();
    private final NavigableMap<Long, Seen> seen = new TreeMap<>();
    private final NavigableMap<Long, Seen> deleted = new TreeMap<>();
    private final NavigableMap<Long, Integer> lostEpochs = new TreeMap<>();
    private final Set<Long> cuts = new HashSet<>();
    private long logStartOffset;
    private long deletedUpTo;
    private long deletedForSureUpTo;
    private long sentSizeBytes;
    private long gapEnd = -1;
    private boolean powerLost;

    /**
     * A record that was acknowledged or read.
     *
     * @param leaderEpoch in which it was written; -1 when only its acknowledgement was seen
     * @param atMs since when it is known
     * @param acknowledged whether its producer was told that it is safe
     */
    public record Seen(SentRecord record, int leaderEpoch, long atMs, boolean acknowledged) {
        public String id() {
            return record.id();
        }

        @Override
        public String toString() {
            return id() + " of epoch " + leaderEpoch + (acknowledged ? " acknowledged at " : " seen at ") + atMs;
        }
    }

    PartitionHistory(Topic topic, int partition) {
        this.topic = topic;
        this.partition = partition;
    }

    public String topic() {
        return topic.name();
    }

    public Uuid topicId() {
        return topic.id();
    }

    public TopicPlan plan() {
        return topic.plan();
    }

    /** Whether its topic is deleted, or about to be: nobody has anything to do here any more. */
    public boolean isGone() {
        return topic.isGone();
    }

    public int partition() {
        return partition;
    }

    public boolean isConsistent() {
        return plan().promise().isConsistent();
    }

    /** Whether something is acknowledged before it is written. */
    public boolean isAcknowledgedFromMemory() {
        return writeIntervalMs() > 0;
    }

    public long writeIntervalMs() {
        return plan().promise().writeIntervalMs();
    }

    public long flushIntervalMs() {
        return plan().promise().flushIntervalMs();
    }

    /** What the next record is about. */
    SentRecord.Content newContent(World world) {
        if (!plan().isCompacted()) {
            return new SentRecord.Content(null, false, world.clockMs());
        }
        boolean tombstone = world.random().nextInt(TOMBSTONE_ODDS) == 0;
        return new SentRecord.Content("key" + world.random().nextInt(KEYS), tombstone, world.clockMs());
    }

    /** Remembers a record before it is sent. */
    void add(SentRecord record) {
        sent.put(record.id(), record);
    }

    /** A batch with {@code first} as its first record is about to be sent. */
    void onBatch(SentRecord first, int sizeBytes) {
        if (first.batchSizeBytes() == 0) {
            first.setBatchSizeBytes(sizeBytes);
            sentSizeBytes += sizeBytes;
        }
    }

    /** The end of a transaction may be written. */
    void onMarker(int sizeBytes) {
        sentSizeBytes += sizeBytes;
    }

    /** Bytes of everything that may have been appended ever. */
    public long sentSizeBytes() {
        return sentSizeBytes;
    }

    /** The record of that name; null when nobody sent it. */
    public SentRecord find(String id) {
        return sent.get(id);
    }

    /** Everything that may have been appended. */
    public Iterable<SentRecord> allSent() {
        return sent.values();
    }

    /** What was acknowledged or read, by offset. */
    public NavigableMap<Long, Seen> seen() {
        return seen;
    }

    /** What was there and was then deleted, as was asked for or as the topic's settings say. */
    public NavigableMap<Long, Seen> deleted() {
        return deleted;
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

    /** The largest start of the log that anybody was told of in this life of the broker, or found at its start. */
    public long logStartOffset() {
        return logStartOffset;
    }

    /** Begins a life with what was found. */
    public void resetLogStart(long offset) {
        logStartOffset = offset;
    }

    void onLogStart(long offset) {
        logStartOffset = Math.max(logStartOffset, offset);
    }

    /** What was acknowledged or read is lost, as its mode allows; it was written in {@code leaderEpoch}, -1 if unknown. */
    public void onLost(long offset, int leaderEpoch) {
        if (leaderEpoch >= 0) {
            lostEpochs.put(offset, leaderEpoch);
        }
    }

    /** A power loss may have taken a batch and left one behind it. */
    public void onPowerLoss() {
        powerLost = true;
    }

    /** Whether a producer's oldest batch may be refused, as one behind it is there. */
    boolean mayBreakSequences() {
        return powerLost;
    }

    /** Whether records were deleted, or are about to be. */
    boolean losesItsBeginning() {
        return deletedUpTo > 0 || !deleted.isEmpty();
    }

    /** The largest offset before which somebody asked to delete. */
    public long deletedUpTo() {
        return deletedUpTo;
    }

    /** The largest offset before which everything is deleted, as somebody was told. */
    public long deletedForSureUpTo() {
        return deletedForSureUpTo;
    }

    void onDelete(long offset) {
        deletedUpTo = Math.max(deletedUpTo, offset);
    }

    void onDeleted(long offset) {
        deletedForSureUpTo = Math.max(deletedForSureUpTo, offset);
    }

    /** Offset behind the last record that is known. */
    long knownEnd() {
        return seen.isEmpty() ? logStartOffset : seen.lastKey() + 1;
    }

    /** Where a reader stands that has read the last record that anybody has. */
    OffsetCommitSender.Position readPosition() {
        for (Map.Entry<Long, Seen> one : seen.descendingMap().entrySet()) {
            if (one.getValue().leaderEpoch() >= 0) {
                return new OffsetCommitSender.Position(
                        one.getKey() + 1, one.getValue().leaderEpoch());
            }
        }
        return new OffsetCommitSender.Position(0, -1);
    }

    @Override
    public String toString() {
        return topic() + "-" + partition + " (" + plan().promise().mode() + ", " + plan().cleanup() + ")";
    }
}
