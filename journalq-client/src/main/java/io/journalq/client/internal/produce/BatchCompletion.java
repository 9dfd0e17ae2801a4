package io.journalq.client.internal.produce;

import io.journalq.client.error.DeliveryTimedOutException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.network.Errors;
import io.journalq.client.internal.network.HostAndPort;
import io.journalq.client.record.RecordMetadata;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ProduceResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Handles the results of sent batches: acknowledged, sent again in order, or failed. Belongs to the event loop.
 *
 * <p>Order with idempotence (KIP-98, KIP-360): after an error, the lane sends nothing until all its batches in flight
 * are completed. Then it sends the batches again in order with the same sequence numbers, one at a time, so that the
 * broker can detect duplicates among its last five batches.
 *
 * <p>If the broker rejects the sequence number of the oldest batch although all earlier batches are completed, it has
 * lost the state of this producer. Each batch whose outcome is unknown is then sent once more with its old number. When
 * it is certain that none of them is in the log, the lane continues with the next epoch and sequence number 0.
 */
final class BatchCompletion implements ProduceCall.Outcome {
    private final ProduceLoop loop;
    private final ProducerConfig config;
    private final Sender.Counters counters;
    private final BufferMemory memory;
    private final Gate gate;
    /** Completed batches whose waiting threads are notified together. */
    private final List<PendingBatch> completed = new ArrayList<>();

    BatchCompletion(ProduceLoop loop, ProducerConfig config, Sender.Counters counters, BufferMemory memory, Gate gate) {
        this.loop = loop;
        this.config = config;
        this.counters = counters;
        this.memory = memory;
        this.gate = gate;
    }

    @Override
    public void onNamedLeader(String topic, int partition, int leader, int leaderEpoch, HostAndPort address) {
        loop.cluster().metadata().onNamedLeader(topic, partition, leader, leaderEpoch, address);
    }

    @Override
    public void onResponse(ProduceCall call, PendingBatch batch, ProduceResponse.PartitionProduceResponse response) {
        batch.lane.inFlight.remove(batch);
        ErrorCode error = ErrorCode.of(response.errorCode());
        switch (error) {
            case NONE -> succeed(batch, response.baseOffset(), response.logAppendTimeMs());
            case DUPLICATE_SEQUENCE_NUMBER -> succeed(batch, RecordMetadata.UNKNOWN_OFFSET, -1);
            case OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID, INVALID_PRODUCER_EPOCH -> {
                // Within a transaction the sequence numbers cannot be changed, so it can no longer be committed.
                if (config.idempotent() && !config.transactional()) {
                    batch.rejected = true;
                    batch.outcomeUnknown = false;
                    again(batch, responseError(batch, error, response));
                } else {
                    end(batch, responseError(batch, error, response));
                }
            }
            default -> {
                JournalQException cause = responseError(batch, error, response);
                if (error.retriable()) {
                    batch.outcomeUnknown |= mayHaveAppended(error);
                    if (!loop.hasNewLeader(batch.lane)) {
                        loop.cluster().metadata().requestUpdate();
                    }
                    again(batch, cause);
                } else {
                    end(batch, cause);
                }
            }
        }
    }

    @Override
    public void onNoResponse(ProduceCall call, PendingBatch batch, JournalQException cause) {
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
        notifyCompleted();
        loop.onRequestDone(call);
    }

    /**
     * Returns the next batch to send again. Returns null if there is none, or if a batch whose outcome is being checked
     * is in flight. Batches whose delivery timeout has passed fail: a broker could append what an application takes for
     * failed.
     */
    PendingBatch nextRetry(Lane lane) {
        if (!lane.retry.isEmpty()) {
            failExpired(lane);
        }
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
     * Assigns new sequence numbers to the batches of a lane, if the broker has lost the old ones and there is no batch
     * whose outcome is unknown. Called before the lane sends.
     *
     * @return false if a new producer id is needed first
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
            lane.number(batch, batch.recordCount());
        }
        return true;
    }

    /** Delays a lane after an error, or until its partition has another leader. */
    void pause(Lane lane, long nowNanos, int failures) {
        long delayNanos =
                TimeUnit.MILLISECONDS.toNanos(config.client().retryBackoff().delayMs(failures));
        lane.blocked = true;
        lane.blockedUntilNanos = nowNanos + delayNanos;
        loop.revisitLater(lane, delayNanos);
    }

    /** Fails the batches that wait to be sent again, and whose delivery timeout has passed. */
    private void failExpired(Lane lane) {
        long nowNanos = System.nanoTime();
        List<PendingBatch> expired = new ArrayList<>(0);
        lane.retry.removeIf(batch -> nowNanos - batch.deadlineNanos >= 0 && expired.add(batch));
        expired.forEach(batch -> fail(batch, timedOut(batch)));
    }

    /** Fails a batch that is in no queue of the loop. */
    void fail(PendingBatch batch, JournalQException cause) {
        end(batch, cause);
        notifyCompleted();
    }

    private void end(PendingBatch batch, JournalQException cause) {
        boolean decided = batch.complete(RecordMetadata.UNKNOWN_OFFSET, -1, cause);
        if (decided) {
            loop.cluster().failureLog().reportIfRefused(batch.lane.id.topic(), cause);
            counters.failedRecords.add(batch.recordCount());
            tellGate(batch, cause);
        }
        settle(batch, decided);
    }

    /** The failure of an earlier transaction must not end the one that is open now. */
    private void tellGate(PendingBatch batch, JournalQException cause) {
        if (!loop.identity().isOutdated(batch)) {
            gate.onFailed(cause);
        }
    }

    /**
     * Fails the batches whose delivery timeout has passed. A batch in flight stays in its queue until the request is
     * completed.
     */
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
                    counters.failedRecords.add(batch.recordCount());
                    tellGate(batch, cause);
                    memory.release(batch.accountedBytes);
                    batch.notifyWaiters();
                }
            } else {
                lane.retry.remove(batch);
                fail(batch, cause);
            }
        }
    }

    /**
     * Fails all batches of a lane that are not in flight.
     *
     * @param shut whether the lane also rejects further batches
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
            counters.records.add(batch.recordCount());
            counters.batches.increment();
        }
        settle(batch, decided);
    }

    private void again(PendingBatch batch, JournalQException cause) {
        if (batch.isDone()) {
            settle(batch, false);
            return;
        }
        if (loop.identity().isOutdated(batch)) {
            end(batch, cause);
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
        if (loop.hasNewLeader(batch.lane)) {
            loop.revisit(batch.lane);
        } else {
            pause(batch.lane, nowNanos, batch.tries);
        }
    }

    /**
     * Removes a completed batch from its lane, which may then continue. Afterwards notifies its senders, so that one
     * that sends again immediately finds the lane free. Virtual threads and futures are notified now, platform threads
     * together with those of the other batches of the response.
     *
     * @param decided whether the senders have not been notified before
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
                completed.add(batch);
            } else {
                batch.notifyWaiters();
            }
        }
    }

    private void notifyCompleted() {
        if (!completed.isEmpty()) {
            WakeUps.notifyWaiters(completed);
            completed.clear();
        }
    }

    private JournalQException timedOut(PendingBatch batch) {
        String fate = batch.tries == 0 ? "it was not sent" : "tried " + batch.tries + " times, and may have arrived";
        String last = batch.lastError == null ? "" : "; the last error: " + batch.lastError.getMessage();
        return new DeliveryTimedOutException(
                "a record for " + batch.lane.id + " was not acknowledged within " + config.deliveryTimeoutMs() + " ms ("
                        + fate + ")" + last,
                batch.lastError);
    }

    /**
     * Whether the broker rejected the sequence number of a batch, so that the batch is not in the log under that
     * number.
     */
    static boolean isRejection(ErrorCode error) {
        return error == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
                || error == ErrorCode.UNKNOWN_PRODUCER_ID
                || error == ErrorCode.INVALID_PRODUCER_EPOCH;
    }

    /** Whether a batch may be in the log despite the error. */
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

    private static JournalQException responseError(
            PendingBatch batch, ErrorCode error, ProduceResponse.PartitionProduceResponse response) {
        return Errors.of(error, "send to " + batch.lane.id, response.errorMessage());
    }
}
