package io.journalq.client.internal.produce;

import io.journalq.client.error.InterruptedWaitException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.record.BatchMetadata;
import io.journalq.client.record.RecordMetadata;
import io.journalq.client.seal.BatchSealer;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.Crc32c;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.util.internal.PlatformDependent;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/**
 * A batch from its first record to its acknowledgement.
 *
 * <p>While the batch is open, all fields are guarded by the lock of the lane. The thread that closes the batch builds
 * it and publishes the payload. Afterwards, the batch belongs to the event loop. The result is published by {@code
 * done} and can be read by any thread.
 */
final class PendingBatch {
    private static final int FIRST_WAITERS = 4;

    final Lane lane;
    final long createdNanos;
    final long deadlineNanos;

    // Guarded by the lock of the lane while open, then read-only.
    BuilderPool.Slot slot;
    /** Seals the batch; null if it is sent without encryption. Set when the batch is closed. */
    BatchSealer.Place place;

    long accountedBytes;
    boolean urgent;
    private Thread[] waiters;
    private int waiterCount;
    private int platformWaiters;
    private RecordFuture firstFuture;
    private RecordFuture lastFuture;
    private BatchFuture batchFuture;

    // Written before the payload by the thread that builds the batch.
    private int recordCount;
    private long maxTimestampMs;
    private volatile ByteBuf payload;
    private volatile Throwable buildError;

    // Belongs to the event loop.
    long order;
    long producerId = RecordBatch.NO_PRODUCER_ID;
    short producerEpoch = RecordBatch.NO_PRODUCER_EPOCH;
    int baseSequence = RecordBatch.NO_SEQUENCE;
    int tries;
    boolean outcomeUnknown;
    boolean rejected;
    JournalQException lastError;

    // Written before done.
    private long baseOffset;
    private long appendTimeMs;
    private JournalQException failure;
    private volatile boolean done;
    private WakeUps wakeUps;
    private volatile boolean notified;

    /** Whether a waiting thread has left without the result. */
    private volatile boolean left;

    PendingBatch(Lane lane, BuilderPool.Slot slot, long nowNanos, long deliveryTimeoutNanos) {
        this.lane = lane;
        this.slot = slot;
        this.createdNanos = nowNanos;
        this.deadlineNanos = nowNanos + deliveryTimeoutNanos;
    }

    /** Creates a batch from a finished payload, whose reference it takes over. */
    PendingBatch(Lane lane, ByteBuf payload, long nowNanos, long deliveryTimeoutNanos) {
        this(lane, (BuilderPool.Slot) null, nowNanos, deliveryTimeoutNanos);
        this.recordCount = RecordBatch.recordCount(payload, 0);
        this.maxTimestampMs = RecordBatch.maxTimestamp(payload, 0);
        this.payload = payload;
    }

    /** Adds a waiting thread. The caller holds the lock of the lane, and the batch is not done. */
    void addWaiter(Thread thread) {
        if (waiters == null) {
            waiters = new Thread[FIRST_WAITERS];
        } else if (waiterCount == waiters.length) {
            waiters = Arrays.copyOf(waiters, waiterCount * 2);
        }
        waiters[waiterCount++] = thread;
        if (!PlatformDependent.isVirtualThread(thread)) {
            platformWaiters++;
        }
    }

    /** The number of waiting platform threads. Waking a virtual thread costs little in comparison. */
    int platformWaiters() {
        return platformWaiters;
    }

    /** Adds the future of a record. The caller holds the lock of the lane, and the batch is open. */
    void addFuture(RecordFuture future) {
        if (firstFuture == null) {
            firstFuture = future;
        } else {
            lastFuture.next = future;
        }
        lastFuture = future;
    }

    void setBatchFuture(BatchFuture future) {
        this.batchFuture = future;
    }

    /** The number of records, also before the batch is built. Called by the owner of the batch. */
    int recordCount() {
        return slot == null ? recordCount : slot.builder().recordCount();
    }

    /** Whether the batch has been built, successfully or not. */
    boolean isBuilt() {
        return payload != null || buildError != null;
    }

    /** The exception that occurred while the batch was built, or null. */
    Throwable buildError() {
        return buildError;
    }

    ByteBuf payload() {
        return payload;
    }

    /**
     * Encodes the records, and seals them if the batch has a place. Called by the thread that closed the batch, without the lock of the lane. The payload is
     * published last: as soon as it is visible, the loop can send and complete the batch and release its buffers before
     * this thread continues.
     */
    void build() {
        BuilderPool.Slot used = slot;
        slot = null;
        recordCount = used.builder().recordCount();
        maxTimestampMs = used.builder().maxTimestampMs();
        ByteBuf built = null;
        Throwable error = null;
        try {
            built = used.build();
            if (place != null) {
                // Retries send these bytes again. New sequence numbers change only the header around the seal.
                ByteBuf plain = built;
                built = null;
                built = place.seal(plain);
                place = null;
            }
        } catch (RuntimeException | Error e) {
            // The loop fails the batch when it takes it. Also if the native library of a codec cannot be loaded.
            error = e;
        }
        used.release();
        payload = built;
        buildError = error;
    }

    /**
     * Sets the sequence number of the batch, built or not. Called on the loop, or by the direct sender that has claimed
     * the lane.
     */
    void number(long id, short epoch, int sequence) {
        producerId = id;
        producerEpoch = epoch;
        baseSequence = sequence;
        ByteBuf built = payload;
        if (built == null) {
            slot.builder().setProducerState(id, epoch, sequence, lane.topic.isTransactional());
            return;
        }
        built.setLong(RecordBatch.PRODUCER_ID, id);
        built.setShort(RecordBatch.PRODUCER_EPOCH, epoch);
        built.setInt(RecordBatch.BASE_SEQUENCE, sequence);
        if (lane.topic.isTransactional()) {
            int attributes = RecordBatch.attributes(built, 0) | RecordBatch.TRANSACTIONAL_FLAG;
            RecordBatch.setAttributes(built, 0, (short) attributes);
        }
        int checkedBytes = built.readableBytes() - RecordBatch.ATTRIBUTES;
        RecordBatch.setCrc(built, 0, Crc32c.compute(built, RecordBatch.ATTRIBUTES, checkedBytes));
    }

    boolean isNumbered() {
        return baseSequence != RecordBatch.NO_SEQUENCE;
    }

    /** Publishes the result. Only the first call has an effect; returns whether this was the first. */
    boolean complete(long offset, long appendTime, JournalQException error) {
        if (done) {
            return false;
        }
        baseOffset = offset;
        appendTimeMs = appendTime;
        failure = error;
        done = true;
        return true;
    }

    /** Leaves waking the platform threads to {@code others}. Called between {@link #complete} and {@link #notifyWaiters}. */
    void leaveWakingTo(WakeUps others) {
        wakeUps = others;
        for (int i = 0; i < waiterCount; i++) {
            if (!PlatformDependent.isVirtualThread(waiters[i])) {
                others.add(waiters[i], this);
            }
        }
    }

    /**
     * Completes the futures and wakes the waiting threads. Called after {@link #complete} without any lock, because
     * futures run code of the application.
     */
    void notifyWaiters() {
        notified = true;
        for (int i = 0; i < waiterCount; i++) {
            if (wakeUps == null || PlatformDependent.isVirtualThread(waiters[i])) {
                LockSupport.unpark(waiters[i]);
            }
        }
        for (RecordFuture future = firstFuture; future != null; future = future.next) {
            if (failure == null) {
                future.complete(metadata(future.index, future.timestampMs));
            } else {
                future.completeExceptionally(failure);
            }
        }
        if (batchFuture != null) {
            if (failure == null) {
                TopicPartition where = lane.id;
                if (appendTimeMs >= 0) {
                    batchFuture.setLogAppendTime();
                }
                batchFuture.complete(new BatchMetadata(
                        where.topic(),
                        where.partition(),
                        baseOffset,
                        recordCount,
                        appendTimeMs >= 0 ? appendTimeMs : maxTimestampMs));
            } else {
                batchFuture.completeExceptionally(failure);
            }
        }
    }

    boolean isDone() {
        return done;
    }

    /** Whether the result is published and the producer has no more work with the batch. */
    boolean isNotified() {
        return notified;
    }

    /** Parks the calling thread, which has been added as a waiter, until {@link #notifyWaiters}. */
    void await() {
        while (!notified) {
            LockSupport.park(this);
            if (!notified && Thread.interrupted()) {
                Thread.currentThread().interrupt();
                left = true;
                if (!notified) {
                    throw new InterruptedWaitException(
                            "interrupted while waiting for an acknowledgement; the record may still be sent", null);
                }
            }
        }
        if (wakeUps != null) {
            wakeUps.wakeNext();
        }
    }

    /** Whether a waiting thread may have left before it was notified. */
    boolean wasLeft() {
        return left;
    }

    /** Returns the result of one record, or throws the failure of the batch. Called after {@link #await}. */
    RecordMetadata result(int index, long timestampMs) {
        if (failure != null) {
            throw failure;
        }
        return metadata(index, timestampMs);
    }

    /** Releases the buffers. Called on the loop when the batch is in no queue. */
    void releaseBuffers() {
        if (payload != null) {
            payload.release();
            payload = null;
        }
        if (slot != null) {
            slot.release();
            slot = null;
        }
    }

    private RecordMetadata metadata(int index, long timestampMs) {
        long offset = baseOffset < 0 ? RecordMetadata.UNKNOWN_OFFSET : baseOffset + index;
        return new RecordMetadata(
                lane.id.topic(), lane.id.partition(), offset, appendTimeMs >= 0 ? appendTimeMs : timestampMs);
    }

    /**
     * The result of an asynchronous send, with the index of the record in its batch. The futures of a batch form a linked
     * list.
     */
    static final class RecordFuture extends CompletableFuture<RecordMetadata> {
        final int index;
        final long timestampMs;
        RecordFuture next;

        RecordFuture(int index, long timestampMs) {
            this.index = index;
            this.timestampMs = timestampMs;
        }
    }
}
