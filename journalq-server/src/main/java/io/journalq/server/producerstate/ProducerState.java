package io.journalq.server.producerstate;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.producerstate.PartitionTransactions.UnfinishedTransaction;

/**
 * The state of one producer in one partition: its epoch, its last {@link ProducerDedup#REMEMBERED_BATCHES} batches in a
 * ring, and its transaction.
 */
final class ProducerState {
    /** The producer's sequence is unknown: any may come next. */
    static final int ANY_SEQUENCE = -1;

    static final long NO_OFFSET = -1L;
    static final int NO_COORDINATOR_EPOCH = -1;

    /** Half of all sequences, so that a sequence is either behind or ahead of another. */
    static final int MOST_UNBROKEN = 1 << 30;

    /**
     * Twice the number of remembered batches, so that staged batches that cannot be written do not replace written
     * ones.
     */
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
    private int unbrokenRecords;
    private int coordinatorEpoch = NO_COORDINATOR_EPOCH;
    private UnfinishedTransaction transaction;
    private long lastMarkerOffset = NO_OFFSET;
    private boolean lastMarkerCommit;
    private long lastMarkerNumber;
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
        unbrokenRecords = other.unbrokenRecords;
        coordinatorEpoch = other.coordinatorEpoch;
        transaction = other.transaction;
        lastMarkerOffset = other.lastMarkerOffset;
        lastMarkerCommit = other.lastMarkerCommit;
        lastMarkerNumber = other.lastMarkerNumber;
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

    /** Number of batches remembered. */
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

    /** Sequence of the producer's last record; -1 if unknown. */
    int lastSequence() {
        return held == 0 ? RecordBatch.NO_SEQUENCE : lastSequences[slot(0)];
    }

    /** Required sequence of the next record while no batch is remembered; {@link #ANY_SEQUENCE} if any may come. */
    int sequenceWhenEmpty() {
        return sequenceWhenEmpty;
    }

    /** Slot of the remembered batch with exactly these sequences; -1 if there is none. */
    int find(int firstSequence, int lastSequence) {
        for (int age = 0; age < held; age++) {
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
        boolean continues = held > 0 && batchEpoch == epoch && firstSequence == after(lastSequences[slot(0)]);
        unbrokenRecords = upToLimit((continues ? unbrokenRecords : 0L) + records(firstSequence, lastSequence));
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

    /** Removes the batches from {@code offset} on. The first of them is the one that must come next. */
    void truncateTo(long offset) {
        while (held > 0 && baseOffsets[slot(0)] >= offset) {
            next = slot(0);
            held--;
            sequenceWhenEmpty = firstSequences[next];
            unbrokenRecords = (int) Math.max(0, unbrokenRecords - records(firstSequences[next], lastSequences[next]));
        }
    }

    /**
     * Number of records with consecutive sequences and one epoch, up to the last one, that the partition has received;
     * at most {@link #MOST_UNBROKEN}. Retention may have deleted some of them.
     */
    int unbrokenRecords() {
        return unbrokenRecords;
    }

    /** Restores {@link #unbrokenRecords} from a snapshot, after the batches. */
    void restoreUnbroken(int records) {
        unbrokenRecords = Math.min(MOST_UNBROKEN, Math.max(unbrokenRecords, records));
    }

    /**
     * Whether these records were appended before the oldest remembered batch, so that they are a repetition. False if
     * that is not known.
     */
    boolean isOlderRepetition(int firstSequence, int lastSequence) {
        if (held == 0) {
            return false;
        }
        long behind = distance(lastSequence, lastSequences[slot(0)]);
        long remembered = records(firstSequences[slot(held - 1)], lastSequences[slot(0)]);
        return behind >= remembered && behind + records(firstSequence, lastSequence) <= unbrokenRecords;
    }

    /** Base offset of the oldest remembered batch. The batches that {@link #isOlderRepetition} knows lie before it. */
    long oldestOffset() {
        return baseOffsets[slot(held - 1)];
    }

    private static int upToLimit(long records) {
        return (int) Math.min(MOST_UNBROKEN, records);
    }

    /** Sequences wrap from the largest int to 0. */
    static int after(int sequence) {
        return sequence == Integer.MAX_VALUE ? 0 : sequence + 1;
    }

    /** How far {@code to} is ahead of {@code from}. */
    static int distance(int from, int to) {
        return (to - from) & Integer.MAX_VALUE;
    }

    private static long records(int firstSequence, int lastSequence) {
        return distance(firstSequence, lastSequence) + 1L;
    }

    /**
     * Whether acknowledged batches of this producer may be missing behind its newest one.
     *
     * @param lossOffset end of the log when batches may have been lost
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

    /** Whether its batches belong to transactions, which must not commit if one of them is missing. */
    private boolean isTransactional() {
        return transaction != null || coordinatorEpoch != NO_COORDINATOR_EPOCH;
    }

    /** Notes that the batch that begins with {@code sequence} must be sent again. */
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

    /** Restores an epoch without batches, as a snapshot may contain one. */
    void restoreEpoch(short restoredEpoch, int restoredSequence) {
        epoch = restoredEpoch;
        sequenceWhenEmpty = restoredSequence;
    }

    // ---- transactions

    /** The transaction that has records here and no marker yet; null if there is none. */
    UnfinishedTransaction transaction() {
        return transaction;
    }

    void setTransaction(UnfinishedTransaction open) {
        transaction = open;
    }

    /** Epoch of the coordinator that wrote the last marker; -1 if there was none. */
    int coordinatorEpoch() {
        return coordinatorEpoch;
    }

    /** Offset of the last marker; -1 if there was none. */
    long lastMarkerOffset() {
        return lastMarkerOffset;
    }

    /** Whether the last marker committed. */
    boolean lastMarkerCommit() {
        return lastMarkerCommit;
    }

    /** Number of the last marker that was passed to {@link #onMarker}; 0 if there was none. */
    long lastMarkerNumber() {
        return lastMarkerNumber;
    }

    /** Notes the number of a marker, see {@link VerificationGuards}. */
    void onMarker(long number) {
        lastMarkerNumber = number;
    }

    /** Whether the producer has written nothing since its last marker. */
    boolean endsWithMarker() {
        return lastMarkerOffset != NO_OFFSET && (held == 0 || baseOffsets[slot(0)] < lastMarkerOffset);
    }

    /** Ends the producer's transaction. With a new epoch, its sequence starts again. */
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

    /** Restores the last marker from a snapshot. */
    void restoreMarker(int restoredCoordinatorEpoch, long markerOffset, boolean commit) {
        coordinatorEpoch = restoredCoordinatorEpoch;
        lastMarkerOffset = markerOffset;
        lastMarkerCommit = commit;
    }
}
