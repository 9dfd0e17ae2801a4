package io.journalq.server.shard.replica;

import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.server.journal.Journal;
import io.journalq.server.shard.partition.PartitionHost;
import java.util.concurrent.TimeUnit;

/** One partition that a fetcher fetches, and what it last asked for. On the partition's loop. */
final class FetchedPartition {
    private static final int FIRST_PAUSE_MS = 10;
    private static final int LONGEST_PAUSE_MS = 1_000;
    private static final long UNKNOWN = -1L;
    /** Under load, a replica has to fetch again after a fsync before it can join. For this time, one is sufficient. */
    private static final long SYNC_SUFFICES_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final PartitionHost host;
    /** Whether the leader has it in the fetch session. */
    private boolean inSession;

    /** Whether it is left out for a while, after an error. */
    private boolean paused;

    private int nextPauseMs = FIRST_PAUSE_MS;
    private int askedEpoch;
    private long askedOffset;
    private int askedLastEpoch;
    private long askedStartOffset;
    private long askedNanos;
    /** The end of the log with what the leader has sent last. */
    private long appendedOffset;

    /** The high watermark that the leader has told last, or {@link #UNKNOWN}. */
    private long leaderHighWatermark = UNKNOWN;

    /** Whether records that were acknowledged long ago, without this replica, may not be on the disk. */
    private boolean unsynced;

    /** Whether everything below the high watermark was on the disk at a time. */
    private boolean hasSynced;

    private long syncedNanos;

    FetchedPartition(PartitionHost host) {
        this.host = host;
        this.unsynced = !host.replication().isInSync();
    }

    PartitionHost host() {
        return host;
    }

    boolean isInSession() {
        return inSession;
    }

    /** The leader's session is lost, or it does not contain this partition any more. */
    void leaveSession() {
        inSession = false;
    }

    boolean isPaused() {
        return paused;
    }

    /** Leaves the partition out; returns for how long, in milliseconds. */
    int pause() {
        paused = true;
        appendedOffset = 0;
        int pauseMs = nextPauseMs;
        nextPauseMs = Math.min(LONGEST_PAUSE_MS, 2 * nextPauseMs);
        return pauseMs;
    }

    /** Leaves the partition out, without an error. */
    void holdBack() {
        paused = true;
    }

    /** Ends a pause. */
    void resume() {
        paused = false;
    }

    /** The leader has responded without an error. */
    void onResponse() {
        nextPauseMs = FIRST_PAUSE_MS;
    }

    /**
     * The last response had batches, which are staged.
     *
     * @param highWatermark of the leader, which waits for all in-sync replicas: if it is larger than the offset that was
     *     asked for, this replica was not in sync
     */
    void onAppended(long highWatermark, long nowNanos) {
        appendedOffset = host.journal().endOffset();
        boolean isBehind = highWatermark > askedOffset;
        // A new leader may not know yet that records of earlier epochs are below the high watermark.
        boolean mayBeOlder = askedLastEpoch < askedEpoch;
        boolean isNew = hasSynced && nowNanos - syncedNanos < SYNC_SUFFICES_NANOS;
        unsynced |= isBehind ? mayBeOlder || !isNew : !host.replication().isInSync();
    }

    /** The leader has told its high watermark. */
    void onLeaderHighWatermark(long offset) {
        leaderHighWatermark = offset;
    }

    /**
     * Whether the log must be on the disk before the next fetch, because the leader may take this replica for in sync
     * after that. Otherwise, a power loss could take records that were acknowledged long ago, if the replicas that had
     * them on their disks are gone.
     */
    boolean mustSync() {
        return unsynced && host.journal().endOffset() >= leaderHighWatermark;
    }

    /**
     * The log is on the disk.
     *
     * @param begunNanos when the fsync was begun. If the high watermark was new then, everything that is fetched shortly
     *     after this is acknowledged shortly before or later
     */
    void onSynced(long begunNanos, long nowNanos) {
        unsynced = false;
        hasSynced = leaderHighWatermark != UNKNOWN && begunNanos - askedNanos < SYNC_SUFFICES_NANOS;
        syncedNanos = nowNanos;
    }

    /** Whether the log does not have what was appended to it, because the disk rejects writes. */
    boolean isRejected() {
        Journal journal = host.journal();
        return journal.isDirty() || journal.endOffset() < appendedOffset;
    }

    /** The epoch of the leader that was last asked. */
    int askedEpoch() {
        return askedEpoch;
    }

    /** The offset that the leader was last asked for. */
    long askedOffset() {
        return askedOffset;
    }

    /** The epoch of the last batch at that time. */
    int askedLastEpoch() {
        return askedLastEpoch;
    }

    /** Whether the leader must be told what to fetch. */
    boolean isChanged() {
        Journal journal = host.journal();
        return !inSession
                || askedEpoch != host.leaderEpoch()
                || askedOffset != journal.endOffset()
                || askedLastEpoch != journal.epochs().latest()
                || askedStartOffset != journal.keptStartOffset();
    }

    /** Whether the leader must be told the start of the log as soon as it is on the disk. */
    boolean isStartUntold() {
        return askedStartOffset < host.journal().startOffset();
    }

    /** Asks for the batches behind the end of the log. */
    FetchRequest.FetchPartition ask(int maxBytes, long nowNanos) {
        Journal journal = host.journal();
        inSession = true;
        askedEpoch = host.leaderEpoch();
        askedOffset = journal.endOffset();
        askedLastEpoch = journal.epochs().latest();
        askedStartOffset = journal.keptStartOffset();
        askedNanos = nowNanos;
        return new FetchRequest.FetchPartition()
                .setPartition(host.name().partition())
                .setCurrentLeaderEpoch(askedEpoch)
                .setFetchOffset(askedOffset)
                .setLastFetchedEpoch(askedLastEpoch)
                .setLogStartOffset(askedStartOffset)
                .setHighWatermark(host.replica().highWatermark())
                .setPartitionMaxBytes(maxBytes);
    }
}
