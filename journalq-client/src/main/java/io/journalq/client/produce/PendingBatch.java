package io.journalq.client.produce;

import io.journalq.client.BatchMetadata;
import io.journalq.client.JournalQException;
import io.journalq.client.RecordMetadata;
import io.journalq.client.error.InterruptedWaitException;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.Crc32c;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.util.internal.PlatformDependent;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/**
 * One batch from its first record to its acknowledgement.
 *
 * <p>Ownership: while open, everything is under the lane's lock. Once closed, the thread that closed it builds it and
 * publishes the payload. From then on it belongs to the event loop, until the result, published by {@code done}, which
 * any thread reads.
 */
final class PendingBatch {
    private static final int FIRST_WAITERS = 4;

    final Lane lane;
    final long createdNanos;
    final long deadlineNanos;

    // Under the lane's lock while open, then read-only.
    BuilderPool.Slot slot;
    long accountedBytes;
    boolean urgent;
    private Thread[] waiters;
    private int waiterCount;
    private int platformWaiters;
    private RecordFuture firstFuture;
    private RecordFuture lastFuture;
    private CompletableFuture<BatchMetadata> batchFuture;

    // Written by the thread that builds, before the payload.
    int recordCount;
    private long maxTimestampMs;
    private volatile ByteBuf payload;
    private volatile Throwable buildError;

    // The event loop's.
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
    private volatile boolean told;

    /** Whether a waiter went without the result. */
    private volatile boolean left;

    PendingBatch(Lane lane, BuilderPool.Slot slot, long nowNanos, long deliveryTimeoutNanos) {
        this.lane = lane;
        this.slot = slot;
        this.createdNanos = nowNanos;
        this.deadlineNanos = nowNanos + deliveryTimeoutNanos;
    }

    /** A batch that is built already, in {@code payload}, of which it takes over the reference. */
    PendingBatch(Lane lane, ByteBuf payload, long nowNanos, long deliveryTimeoutNanos) {
        this(lane, (BuilderPool.Slot) null, nowNanos, deliveryTimeoutNanos);
        this.recordCount = RecordBatch.recordCount(payload, 0);
        this.maxTimestampMs = RecordBatch.maxTimestamp(payload, 0);
        this.payload = payload;
    }

    /** Under the lane's lock, while not done. */
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

    /** How many threads of the system wait; those that Java switches itself are woken at hardly any cost. */
    int platformWaiters() {
        return platformWaiters;
    }

    /** Under the lane's lock, while open. */
    void addFuture(RecordFuture future) {
        if (firstFuture == null) {
            firstFuture = future;
        } else {
            lastFuture.next = future;
        }
        lastFuture = future;
    }

    void setBatchFuture(CompletableFuture<BatchMetadata> future) {
        this.batchFuture = future;
    }

    /** Whether the batch is built, or its building failed. */
    boolean isBuilt() {
        return payload != null || buildError != null;
    }

    /** What kept the batch from being built; null when nothing did. */
    Throwable buildError() {
        return buildError;
    }

    ByteBuf payload() {
        return payload;
    }

    /**
     * Encodes what the builder holds. By the thread that closed the batch, outside the lane's lock. The payload comes
     * last: once it is there the loop may send the batch, settle it and give back what it still holds, all before this
     * thread runs on.
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
        } catch (RuntimeException | OutOfMemoryError e) {
            // The loop fails the batch when its turn comes.
            error = e;
        }
        used.release();
        payload = built;
        buildError = error;
    }

    /** Numbers the batch, built or not. On the loop, or by the direct sender that owns the lane. */
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

    /** Publishes the result, once; later calls change nothing. Returns whether this was the first. */
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

    /** Leaves it to others to wake the platform threads. After {@link #complete}, before {@link #tell}. */
    void leaveWakingTo(WakeUps others) {
        wakeUps = others;
        for (int i = 0; i < waiterCount; i++) {
            if (!PlatformDependent.isVirtualThread(waiters[i])) {
                others.add(waiters[i], this);
            }
        }
    }

    /** Tells those who wait. After {@link #complete}, outside every lock, for futures run the application's code. */
    void tell() {
        told = true;
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

    /** Whether the result is there and nothing of the batch is left with the producer. */
    boolean isTold() {
        return told;
    }

    /** Parks until {@link #tell}; the caller is one of the waiters. */
    void await() {
        while (!told) {
            LockSupport.park(this);
            if (!told && Thread.interrupted()) {
                Thread.currentThread().interrupt();
                left = true;
                if (!told) {
                    throw new InterruptedWaitException(
                            "interrupted while waiting for an acknowledgement; the record may still be sent", null);
                }
            }
        }
        if (wakeUps != null) {
            wakeUps.wakeNext();
        }
    }

    /** Whether a waiter may have gone before it was told. */
    boolean wasLeft() {
        return left;
    }

    /** What became of one record; throws what the batch failed with. After {@link #await}. */
    RecordMetadata result(int index, long timestampMs) {
        if (failure != null) {
            throw failure;
        }
        return metadata(index, timestampMs);
    }

    /** Gives back the buffers. On the loop, when the batch is in no queue any more. */
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
}
