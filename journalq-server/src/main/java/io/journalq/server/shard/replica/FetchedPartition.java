package io.journalq.server.shard.replica;

import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.server.journal.Journal;
import io.journalq.server.shard.partition.PartitionHost;

/** One partition that a fetcher fetches, and what it last asked for. On the partition's loop. */
final class FetchedPartition {
    private static final int FIRST_PAUSE_MS = 50;
    private static final int LONGEST_PAUSE_MS = 1_000;

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
    /** The end of the log with what the leader has sent last. */
    private long appendedOffset;

    FetchedPartition(PartitionHost host) {
        this.host = host;
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

    /** The last response had batches, which are staged. */
    void onAppended() {
        appendedOffset = host.journal().endOffset();
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
                || askedStartOffset != journal.startOffset();
    }

    /** Asks for the batches behind the end of the log. */
    FetchRequest.FetchPartition ask(int maxBytes) {
        Journal journal = host.journal();
        inSession = true;
        askedEpoch = host.leaderEpoch();
        askedOffset = journal.endOffset();
        askedLastEpoch = journal.epochs().latest();
        askedStartOffset = journal.startOffset();
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
