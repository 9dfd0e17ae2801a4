package io.journalq.server.replication;

import io.journalq.common.record.RecordBatch;

/** The last batches of one producer in one partition: a ring of {@link ProducerDedup#REMEMBERED_BATCHES}. */
final class ProducerBatches {
    private static final int CAPACITY = ProducerDedup.REMEMBERED_BATCHES;

    private final int[] firstSequences = new int[CAPACITY];
    private final int[] lastSequences = new int[CAPACITY];
    private final long[] baseOffsets = new long[CAPACITY];
    private final long[] appendTimesMs = new long[CAPACITY];
    private short epoch = RecordBatch.NO_PRODUCER_EPOCH;
    private long lastUsedMs;
    private int next;
    private int count;

    short epoch() {
        return epoch;
    }

    long lastUsedMs() {
        return lastUsedMs;
    }

    int count() {
        return count;
    }

    boolean isEmpty() {
        return count == 0;
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

    /** Slot of the remembered batch with exactly these sequences; -1 when there is none. */
    int find(int firstSequence, int lastSequence) {
        for (int age = 0; age < count; age++) {
            int slot = slot(age);
            if (firstSequences[slot] == firstSequence && lastSequences[slot] == lastSequence) {
                return slot;
            }
        }
        return -1;
    }

    void add(short batchEpoch, int firstSequence, int lastSequence, long baseOffset, long appendTimeMs) {
        if (batchEpoch != epoch) {
            epoch = batchEpoch;
            count = 0;
        }
        firstSequences[next] = firstSequence;
        lastSequences[next] = lastSequence;
        baseOffsets[next] = baseOffset;
        appendTimesMs[next] = appendTimeMs;
        next = (next + 1) % CAPACITY;
        count = Math.min(CAPACITY, count + 1);
    }

    /** Forgets the batches from {@code offset} on. */
    void truncateTo(long offset) {
        while (count > 0 && baseOffsets[slot(0)] >= offset) {
            next = slot(0);
            count--;
        }
    }

    void use(long nowMs) {
        lastUsedMs = nowMs;
    }

    /** Takes over an epoch without batches, as a snapshot may hold one. */
    void restoreEpoch(short restoredEpoch) {
        epoch = restoredEpoch;
    }
}
