package io.journalq.client.produce;

import io.journalq.client.JournalQException;
import io.journalq.client.RecordMetadata;
import io.journalq.client.error.DeliveryTimedOutException;
import io.journalq.client.error.Errors;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ProduceResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What becomes of batches that were sent: acknowledged, sent again in their order, or failed. Belongs to the event loop.
 *
 * <p>Order with idempotence (KIP-98, 360): after an error nothing of the lane is sent until everything in flight has come
 * back; then what must be sent again goes in its order under the same numbers, one at a time, so that the broker
 * recognises what it has already: it remembers five batches. When the oldest batch is refused for its number although everything before it is settled, the broker has lost
 * track of this producer: every batch of unknown fate is then asked about once more under its old number, and when all
 * of them are known not to be there, the lane goes on under the next epoch, numbered from 0.
 */
final class Settling implements ProduceCall.Outcome {
    private final ProduceLoop loop;
    private final ProducerConfig config;
    private final Counters counters;
    private final BufferMemory memory;
    private final Gate gate;
    /** Settled and to be told together. */
    private final List<PendingBatch> untold = new ArrayList<>();

    Settling(ProduceLoop loop, ProducerConfig config, Counters counters, BufferMemory memory, Gate gate) {
        this.loop = loop;
        this.config = config;
        this.counters = counters;
        this.memory = memory;
        this.gate = gate;
    }

    @Override
    public void onAnswer(ProduceCall call, PendingBatch batch, ProduceResponse.PartitionProduceResponse answer) {
        batch.lane.inFlight.remove(batch);
        ErrorCode error = ErrorCode.of(answer.errorCode());
        switch (error) {
            case NONE -> succeed(batch, answer.baseOffset(), answer.logAppendTimeMs());
            case DUPLICATE_SEQUENCE_NUMBER -> succeed(batch, RecordMetadata.UNKNOWN_OFFSET, -1);
            case OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID, INVALID_PRODUCER_EPOCH -> {
                // Within a transaction there are no other numbers: it cannot commit any more.
                if (config.idempotent() && !config.transactional()) {
                    batch.rejected = true;
                    batch.outcomeUnknown = false;
                    again(batch, answerError(batch, error, answer));
                } else {
                    end(batch, answerError(batch, error, answer));
                }
            }
            default -> {
                JournalQException cause = answerError(batch, error, answer);
                if (error.retriable()) {
                    batch.outcomeUnknown |= mayHaveAppended(error);
                    loop.cluster().metadata().requestUpdate();
                    again(batch, cause);
                } else {
                    end(batch, cause);
                }
            }
        }
    }

    @Override
    public void onNoAnswer(ProduceCall call, PendingBatch batch, JournalQException cause) {
        batch.lane.inFlight.remove(batch);
        if (cause == null) {
            succeed(batch, RecordMetadata.UNKNOWN_OFFSET, -1);
        } else if (cause.retriable()) {
            batch.outcomeUnknown = true;
            again(batch, cause);
        } else {
            end(batch, cause);
        }
    }

    @Override
    public void onDone(ProduceCall call) {
        tellSettled();
        loop.onRequestDone(call);
    }

    /** The next batch to send again; null when there is none, or one that is asked about must come back first. */
    PendingBatch nextRetry(Lane lane) {
        if (!lane.probing) {
            PendingBatch next = lane.retry.poll();
            if (next != null) {
                next.rejected = false;
            }
            return next;
        }
        if (!lane.inFlight.isEmpty()) {
            return null;
        }
        for (PendingBatch batch : lane.retry) {
            if (batch.outcomeUnknown) {
                lane.retry.remove(batch);
                return batch;
            }
        }
        return null;
    }

    /**
     * Before a lane sends: gives its batches new numbers if the broker lost track of the old ones and no batch of
     * unknown fate is left.
     *
     * @return false when that must wait for a new producer id
     */
    boolean renumberRejected(Lane lane) {
        PendingBatch oldest = lane.retry.peek();
        if (!lane.inFlight.isEmpty() || oldest == null || !oldest.rejected) {
            lane.probing &= !lane.inFlight.isEmpty();
            return true;
        }
        lane.probing = true;
        for (PendingBatch batch : lane.retry) {
            if (batch.outcomeUnknown) {
                return true;
            }
        }
        if (!loop.identity().renew(lane)) {
            return false;
        }
        lane.probing = false;
        for (PendingBatch batch : lane.retry) {
            batch.rejected = false;
            lane.number(batch, batch.recordCount);
        }
        return true;
    }

    /** Holds a lane back for a while after an error. */
    void pause(Lane lane, long nowNanos, int failures) {
        long delayNanos =
                TimeUnit.MILLISECONDS.toNanos(config.client().retryBackoff().delayMs(failures));
        lane.blocked = true;
        lane.blockedUntilNanos = nowNanos + delayNanos;
        loop.revisitLater(lane, delayNanos);
    }

    /** Ends a batch that is in no queue of the loop any more with an error. */
    void fail(PendingBatch batch, JournalQException cause) {
        end(batch, cause);
        tellSettled();
    }

    private void end(PendingBatch batch, JournalQException cause) {
        boolean decided = batch.complete(RecordMetadata.UNKNOWN_OFFSET, -1, cause);
        if (decided) {
            counters.failedRecords.add(Math.max(1, batch.recordCount));
            gate.onFailed(cause);
        }
        settle(batch, decided);
    }

    /** Fails the batches whose delivery time-out is over. One in flight stays there, unclaimed, until it comes back. */
    void expire(Lane lane, long nowNanos) {
        List<PendingBatch> expired = new ArrayList<>(0);
        lane.lock.lock();
        try {
            if (lane.incomplete.isEmpty() || lane.isDirect()) {
                return;
            }
            for (PendingBatch batch : lane.incomplete) {
                if (nowNanos - batch.deadlineNanos < 0) {
                    break;
                }
                if (batch == lane.open) {
                    lane.open = null;
                    expired.add(batch);
                } else if (!batch.isDone() && (!lane.closed.contains(batch) || batch.isBuilt())) {
                    lane.closed.remove(batch);
                    expired.add(batch);
                }
            }
        } finally {
            lane.lock.unlock();
        }
        for (PendingBatch batch : expired) {
            JournalQException cause = timedOut(batch);
            if (lane.inFlight.contains(batch)) {
                if (batch.complete(RecordMetadata.UNKNOWN_OFFSET, -1, cause)) {
                    counters.failedRecords.add(batch.recordCount);
                    gate.onFailed(cause);
                    memory.release(batch.accountedBytes);
                    batch.tell();
                }
            } else {
                lane.retry.remove(batch);
                fail(batch, cause);
            }
        }
    }

    /**
     * Fails everything of a lane that is not in flight.
     *
     * @param shut whether the lane takes no more either
     */
    void failAll(Lane lane, JournalQException cause, boolean shut) {
        List<PendingBatch> failed = new ArrayList<>();
        lane.lock.lock();
        try {
            if (shut) {
                lane.shut();
            }
            if (lane.isDirect()) {
                return;
            }
            if (lane.open != null) {
                failed.add(lane.open);
                lane.open = null;
            }
            while (!lane.closed.isEmpty() && lane.closed.peek().isBuilt()) {
                failed.add(lane.closed.poll());
            }
        } finally {
            lane.lock.unlock();
        }
        failed.addAll(lane.retry);
        lane.retry.clear();
        failed.forEach(batch -> fail(batch, cause));
    }

    private void succeed(PendingBatch batch, long baseOffset, long appendTimeMs) {
        batch.lane.established |= batch.producerEpoch == batch.lane.producerEpoch;
        boolean decided = batch.complete(baseOffset, appendTimeMs, null);
        if (decided) {
            counters.records.add(batch.recordCount);
            counters.batches.increment();
        }
        settle(batch, decided);
    }

    private void again(PendingBatch batch, JournalQException cause) {
        if (batch.isDone()) {
            settle(batch, false);
            return;
        }
        long nowNanos = System.nanoTime();
        if (nowNanos - batch.deadlineNanos >= 0) {
            batch.lastError = cause;
            end(batch, timedOut(batch));
            return;
        }
        counters.retriedBatches.increment();
        batch.lastError = cause;
        batch.lane.addRetry(batch);
        pause(batch.lane, nowNanos, batch.tries);
    }

    /**
     * The batch is in no queue any more: its lane forgets it, and may go on. Its senders are told after that, so that one
     * that sends again at once finds the lane free: virtual threads and futures now, platform threads together with those
     * of the answer's other batches.
     *
     * @param decided whether they were not told before
     */
    private void settle(PendingBatch batch, boolean decided) {
        Lane lane = batch.lane;
        batch.releaseBuffers();
        boolean signal;
        lane.lock.lock();
        try {
            if (lane.incomplete.peek() == batch) {
                lane.incomplete.poll();
            } else {
                lane.incomplete.remove(batch);
            }
            signal = lane.hasWork() && lane.markQueued();
        } finally {
            lane.lock.unlock();
        }
        if (signal) {
            loop.signal(lane);
        }
        if (decided) {
            memory.release(batch.accountedBytes);
            if (batch.platformWaiters() > 0) {
                untold.add(batch);
            } else {
                batch.tell();
            }
        }
    }

    private void tellSettled() {
        if (!untold.isEmpty()) {
            WakeUps.tell(untold);
            untold.clear();
        }
    }

    private JournalQException timedOut(PendingBatch batch) {
        String fate = batch.tries == 0 ? "it was not sent" : "tried " + batch.tries + " times, it may have arrived";
        String last = batch.lastError == null ? "" : "; the last error: " + batch.lastError.getMessage();
        return new DeliveryTimedOutException(
                "a record for " + batch.lane.id + " was not acknowledged within " + config.deliveryTimeoutMs() + " ms ("
                        + fate + ")" + last,
                batch.lastError);
    }

    /** Whether the broker refused a batch for its number: it is not in the journal under that number. */
    static boolean isRejection(ErrorCode error) {
        return error == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
                || error == ErrorCode.UNKNOWN_PRODUCER_ID
                || error == ErrorCode.INVALID_PRODUCER_EPOCH;
    }

    /** Whether a batch may be in the journal in spite of the error. */
    static boolean mayHaveAppended(ErrorCode error) {
        return switch (error) {
            case NOT_LEADER_OR_FOLLOWER,
                    LEADER_NOT_AVAILABLE,
                    UNKNOWN_TOPIC_OR_PARTITION,
                    CORRUPT_MESSAGE,
                    NOT_ENOUGH_REPLICAS,
                    FENCED_LEADER_EPOCH,
                    CONCURRENT_TRANSACTIONS,
                    UNKNOWN_LEADER_EPOCH,
                    UNKNOWN_TOPIC_ID -> false;
            default -> true;
        };
    }

    private static JournalQException answerError(
            PendingBatch batch, ErrorCode error, ProduceResponse.PartitionProduceResponse answer) {
        return Errors.of(error, "send to " + batch.lane.id, answer.errorMessage());
    }
}
