package io.journalq.sim.workload;

import io.journalq.common.id.Uuid;
import io.journalq.common.record.Header;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/** What all clients know about one partition. */
public final class PartitionHistory implements LogReader.Source {
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
     * @param leaderEpoch leader epoch of the record; -1 if only its acknowledgement was seen
     * @param atMs time when it was first seen
     * @param acknowledged whether it was acknowledged to its producer
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

    @Override
    public String topic() {
        return topic.name();
    }

    public Uuid topicId() {
        return topic.id();
    }

    public TopicPlan plan() {
        return topic.plan();
    }

    /** Whether the topic is deleted, or about to be. Clients stop using it. */
    public boolean isGone() {
        return topic.isGone();
    }

    @Override
    public int partition() {
        return partition;
    }

    public boolean isConsistent() {
        return plan().promise().isConsistent();
    }

    /** Whether records are acknowledged before they are written. */
    public boolean isAcknowledgedFromMemory() {
        return writeIntervalMs() > 0;
    }

    public long writeIntervalMs() {
        return plan().promise().writeIntervalMs();
    }

    public long flushIntervalMs() {
        return plan().promise().flushIntervalMs();
    }

    /** The content of a new record. */
    SentRecord.Content newContent(World world) {
        if (!plan().isCompacted()) {
            return new SentRecord.Content(null, false, world.clockMs());
        }
        boolean tombstone = world.random().nextInt(TOMBSTONE_ODDS) == 0;
        return new SentRecord.Content("key" + world.random().nextInt(KEYS), tombstone, world.clockMs());
    }

    /** Adds a record before it is sent. */
    void add(SentRecord record) {
        sent.put(record.id(), record);
    }

    /** A batch that begins with {@code first} is about to be sent. */
    void onBatch(SentRecord first, int sizeBytes) {
        if (first.batchSizeBytes() == 0) {
            first.setBatchSizeBytes(sizeBytes);
            sentSizeBytes += sizeBytes;
        }
    }

    /** A transaction marker may be written. */
    void onMarker(int sizeBytes) {
        sentSizeBytes += sizeBytes;
    }

    /** Size of everything that may have been appended, in bytes. */
    public long sentSizeBytes() {
        return sentSizeBytes;
    }

    /** The record with an id; null if no producer sent it. */
    public SentRecord find(String id) {
        return sent.get(id);
    }

    @Override
    public String idOf(byte[] key, byte[] value, List<Header> headers, long timestampMs) {
        String id = SentRecord.claimedId(value, headers);
        SentRecord record = id == null ? null : find(id);
        return record != null && record.isHeldBy(key, value, timestampMs) ? id : null;
    }

    /** All records that may have been appended. */
    public Iterable<SentRecord> allSent() {
        return sent.values();
    }

    /** Records that were acknowledged or read, by offset. */
    public NavigableMap<Long, Seen> seen() {
        return seen;
    }

    /** Records that were seen and then removed by a request or by the settings of the topic, by offset. */
    public NavigableMap<Long, Seen> deleted() {
        return deleted;
    }

    /** For each offset whose record was lost as its mode allows, the leader epoch of that record, if known. */
    public NavigableMap<Long, Integer> lostEpochs() {
        return lostEpochs;
    }

    /** The ends of the log after losses. Committed offsets beyond one of these were moved back to it. */
    public Set<Long> cuts() {
        return cuts;
    }

    /** Whether the log may end with offsets without records. A power loss may leave these until the next append. */
    public boolean mayEndInAGap(long endOffset, boolean powerLost) {
        if (powerLost) {
            gapEnd = endOffset;
        }
        return gapEnd == endOffset;
    }

    /** The largest log start offset that a client has seen in this life of the broker, or that the restart showed. */
    public long logStartOffset() {
        return logStartOffset;
    }

    /** Sets the log start offset that a restart showed. */
    public void resetLogStart(long offset) {
        logStartOffset = offset;
    }

    void onLogStart(long offset) {
        logStartOffset = Math.max(logStartOffset, offset);
    }

    /** A record was lost as its mode allows. {@code leaderEpoch} is its leader epoch; -1 if it is not known. */
    public void onLost(long offset, int leaderEpoch) {
        if (leaderEpoch >= 0) {
            lostEpochs.put(offset, leaderEpoch);
        }
    }

    /** A power loss may have taken a batch and kept a later one. */
    public void onPowerLoss() {
        powerLost = true;
    }

    /** Whether the oldest batch of a producer may be refused because a later one exists. */
    boolean mayBreakSequences() {
        return powerLost;
    }

    /** Whether records were deleted, or are about to be. */
    boolean losesItsBeginning() {
        return deletedUpTo > 0 || !deleted.isEmpty();
    }

    /** The largest offset of a DeleteRecords request. */
    public long deletedUpTo() {
        return deletedUpTo;
    }

    /** The largest offset of an acknowledged DeleteRecords request. */
    public long deletedForSureUpTo() {
        return deletedForSureUpTo;
    }

    void onDelete(long offset) {
        deletedUpTo = Math.max(deletedUpTo, offset);
    }

    void onDeleted(long offset) {
        deletedForSureUpTo = Math.max(deletedForSureUpTo, offset);
    }

    /** Offset after the last known record. */
    long knownEnd() {
        return seen.isEmpty() ? logStartOffset : seen.lastKey() + 1;
    }

    /** The position after the last record that any client has read. */
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
