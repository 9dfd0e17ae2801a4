package io.journalq.server.producerstate;

import io.journalq.common.record.RecordBatch;

/**
 * What one partition knows of one producer: its epoch, its last {@link ProducerDedup#REMEMBERED_BATCHES} batches in a
 * ring, and its transaction.
 */
final class ProducerState {
    /** Nothing is known of the producer's sequence: any may come next. */
    static final int ANY_SEQUENCE = -1;

    static final long NO_OFFSET = -1L;
    static final int NO_COORDINATOR_EPOCH = -1;

    /** Twice what is remembered: batches that are staged and then cannot be written must not push out what is on the disk. */
    private static final int CAPACITY = 2 * ProducerDedup.REMEMBERED_BATCHES;

    private final int[] firstSequences;
    private final int[] lastSequences;
    private final long[] baseOffsets;
    private final long[] appendTimesMs;
    private short epoch = RecordBatch.NO_PRODUCER_EPOCH;
    private int sequenceWhenEmpty = ANY_SEQUENCE;
    private long lastUsedMs;
    private int next;
    private int held;
    private int coordinatorEpoch = NO_COORDINATOR_EPOCH;
    private OpenTransaction transaction;
    private long lastMarkerOffset = NO_OFFSET;
    private boolean lastMarkerCommit;
    private short awaitedEpoch = RecordBatch.NO_PRODUCER_EPOCH;
    private int awaitedSequence = RecordBatch.NO_SEQUENCE;

    ProducerState() {
        firstSequences = new int[CAPACITY];
        lastSequences = new int[CAPACITY];
        baseOffsets = new long[CAPACITY];
        appendTimesMs = new long[CAPACITY];
    }

    private ProducerState(ProducerState other) {
        firstSequences = other.firstSequences.clone();
        lastSequences = other.lastSequences.clone();
        baseOffsets = other.baseOffsets.clone();
        appendTimesMs = other.appendTimesMs.clone();
        epoch = other.epoch;
        sequenceWhenEmpty = other.sequenceWhenEmpty;
        lastUsedMs = other.lastUsedMs;
        next = other.next;
        held = other.held;
        coordinatorEpoch = other.coordinatorEpoch;
        transaction = other.transaction;
        lastMarkerOffset = other.lastMarkerOffset;
        lastMarkerCommit = other.lastMarkerCommit;
        awaitedEpoch = other.awaitedEpoch;
        awaitedSequence = other.awaitedSequence;
    }

    ProducerState copy() {
        return new ProducerState(this);
    }

    short epoch() {
        return epoch;
    }

    /** When the producer last appended, in milliseconds since 1970 UTC. */
    long lastUsedMs() {
        return lastUsedMs;
    }

    // ---- batches

    /** Batches remembered. */
    int count() {
        return Math.min(held, ProducerDedup.REMEMBERED_BATCHES);
    }

    boolean isEmpty() {
        return held == 0;
    }

    /** Slot of the batch that is {@code age} batches older than the newest. */
    int slot(int age) {
        return Math.floorMod(next - 1 - age, CAPACITY);
    }

    int firstSequence(int slot) {
        return firstSequences[slot];
    }

    int lastSequence(int slot) {
        return lastSequences[slot];
    }

    long baseOffset(int slot) {
        return baseOffsets[slot];
    }

    long appendTimeMs(int slot) {
        return appendTimesMs[slot];
    }

    /** Sequence of the producer's last record; -1 when it is not known. */
    int lastSequence() {
        return held == 0 ? RecordBatch.NO_SEQUENCE : lastSequences[slot(0)];
    }

    /** Sequence that the next record must have while no batch is remembered; {@link #ANY_SEQUENCE} when any may. */
    int sequenceWhenEmpty() {
        return sequenceWhenEmpty;
    }

    /** Slot of the remembered batch with exactly these sequences; -1 when there is none. */
    int find(int firstSequence, int lastSequence) {
        for (int age = 0; age < count(); age++) {
            int slot = slot(age);
            if (firstSequences[slot] == firstSequence && lastSequences[slot] == lastSequence) {
                return slot;
            }
        }
        return -1;
    }

    void add(short batchEpoch, int firstSequence, int lastSequence, long baseOffset, long appendTimeMs) {
        if (!isAwaited(batchEpoch, firstSequence)) {
            // The producer still had a batch before the awaited one, even if the new batch is truncated later.
            awaitedEpoch = RecordBatch.NO_PRODUCER_EPOCH;
        }
        if (batchEpoch != epoch) {
            epoch = batchEpoch;
            held = 0;
        }
        firstSequences[next] = firstSequence;
        lastSequences[next] = lastSequence;
        baseOffsets[next] = baseOffset;
        appendTimesMs[next] = appendTimeMs;
        next = (next + 1) % CAPACITY;
        held = Math.min(CAPACITY, held + 1);
    }

    /** Forgets the batches from {@code offset} on: the first of them is what must come next. */
    void truncateTo(long offset) {
        while (held > 0 && baseOffsets[slot(0)] >= offset) {
            next = slot(0);
            held--;
            sequenceWhenEmpty = firstSequences[next];
        }
    }

    /**
     * Whether batches of this producer that were acknowledged may be missing behind the newest one.
     *
     * @param lossOffset end of the log when something may have been lost
     */
    boolean mayHaveLostBatches(long lossOffset) {
        return held > 0 && baseOffsets[slot(0)] < lossOffset && !isTransactional();
    }

    /** All remembered batches may be lost: any sequence may come next. */
    void forgetSequenceWhenEmpty() {
        if (held == 0 && !isTransactional()) {
            sequenceWhenEmpty = ANY_SEQUENCE;
        }
    }

    /** Whether its batches belong to transactions, which must not commit without any of them. */
    private boolean isTransactional() {
        return transaction != null || coordinatorEpoch != NO_COORDINATOR_EPOCH;
    }

    /** The batch that begins with {@code sequence} was told to come again. */
    void await(short batchEpoch, int sequence) {
        awaitedEpoch = batchEpoch;
        awaitedSequence = sequence;
    }

    boolean isAnyAwaited(short batchEpoch) {
        return awaitedEpoch == batchEpoch;
    }

    boolean isAwaited(short batchEpoch, int sequence) {
        return awaitedEpoch == batchEpoch && awaitedSequence == sequence;
    }

    int awaitedSequence() {
        return awaitedSequence;
    }

    void use(long nowMs) {
        lastUsedMs = nowMs;
    }

    /** Takes over an epoch without batches, as a snapshot may hold one. */
    void restoreEpoch(short restoredEpoch, int restoredSequence) {
        epoch = restoredEpoch;
        sequenceWhenEmpty = restoredSequence;
    }

    // ---- transactions

    /** The transaction that has records here and no end yet; null when there is none. */
    OpenTransaction transaction() {
        return transaction;
    }

    void setTransaction(OpenTransaction open) {
        transaction = open;
    }

    /** Epoch of the coordinator that wrote the last marker; -1 when there was none. */
    int coordinatorEpoch() {
        return coordinatorEpoch;
    }

    /** Offset of the last marker; -1 when there was none. */
    long lastMarkerOffset() {
        return lastMarkerOffset;
    }

    /** Whether the last marker committed. */
    boolean lastMarkerCommit() {
        return lastMarkerCommit;
    }

    /** Whether the producer wrote nothing since its last marker. */
    boolean endsWithMarker() {
        return lastMarkerOffset != NO_OFFSET && (held == 0 || baseOffsets[slot(0)] < lastMarkerOffset);
    }

    /** The producer's transaction ends. With a new epoch its sequence starts again. */
    void end(short markerEpoch, int markerCoordinatorEpoch, long markerOffset, boolean commit) {
        if (markerEpoch != epoch) {
            epoch = markerEpoch;
            held = 0;
            sequenceWhenEmpty = 0;
        }
        transaction = null;
        coordinatorEpoch = markerCoordinatorEpoch;
        lastMarkerOffset = markerOffset;
        lastMarkerCommit = commit;
    }

    /** Takes over the last marker that a snapshot holds. */
    void restoreMarker(int restoredCoordinatorEpoch, long markerOffset, boolean commit) {
        coordinatorEpoch = restoredCoordinatorEpoch;
        lastMarkerOffset = markerOffset;
        lastMarkerCommit = commit;
    }
}
