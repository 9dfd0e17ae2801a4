package io.journalq.client.internal.produce;

import io.journalq.client.internal.network.Cluster;
import io.journalq.client.seal.BatchSealer;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.RecordBatch;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The batches that a producer sends to one partition: the open batch, to which senders append, and the closed batches
 * after it in the order in which they are written to the log.
 *
 * <p>A lane has two owners. Fields guarded by {@link #lock} belong to its holder: senders, and briefly the event loop.
 * The sending state belongs to the event loop. While the lane is idle, one synchronous sender can claim it under the
 * lock ({@link #claimDirect}) to do its own network I/O; the loop ignores the lane until the sender releases it. A
 * thread never holds the locks of two lanes. The lock of a {@link BuilderPool} may be acquired while the lock of a lane
 * is held.
 */
final class Lane {
    /** The number of unacknowledged batches in which a broker can detect duplicates (KIP-98). */
    static final int MAX_IN_FLIGHT = 5;

    final TopicPartition id;
    final TopicLanes topic;
    final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    PendingBatch open;
    final ArrayDeque<PendingBatch> closed = new ArrayDeque<>(2);
    /** All batches that are not completed, oldest first. */
    final ArrayDeque<PendingBatch> incomplete = new ArrayDeque<>(MAX_IN_FLIGHT + 2);

    /** Whether the last closed batch had more than one record, which predicts the size of the next batch. */
    boolean lastBatchHeldMany;

    private boolean direct;
    private boolean queued;
    private boolean shut;

    // Belongs to the event loop or the direct sender.
    final ArrayDeque<PendingBatch> inFlight = new ArrayDeque<>(MAX_IN_FLIGHT);
    final ArrayDeque<PendingBatch> retry = new ArrayDeque<>(2);
    int inFlightNode;
    long blockedUntilNanos;
    boolean blocked;
    boolean stalled;
    /** Whether the broker has lost the sequence numbers of this producer. See {@link BatchCompletion#renumberRejected}. */
    boolean probing;

    long producerId = RecordBatch.NO_PRODUCER_ID;
    short producerEpoch;
    int nextSequence;
    /**
     * Whether the broker has acknowledged a batch with the current producer id and epoch. Until then it accepts any
     * sequence number as the first one, so only one batch may be in flight.
     */
    boolean established;

    long nextOrder;
    /** The number of the request in the current drain that contains the last batch of the lane. */
    long drain;

    int round;

    Lane(TopicLanes topic, int partition) {
        this.topic = topic;
        this.id = new TopicPartition(topic.name(), partition);
    }

    /** Claims the sending state for the caller, if nothing is in flight. The caller holds the lock. */
    boolean claimDirect() {
        if (direct || shut || !incomplete.isEmpty()) {
            return false;
        }
        direct = true;
        return true;
    }

    /** Releases the sending state. Returns whether the caller must signal the loop. The caller holds the lock. */
    boolean releaseDirect() {
        direct = false;
        return markQueued();
    }

    boolean isDirect() {
        return direct;
    }

    /**
     * Returns whether the caller must add the lane to the queue of the loop, and marks it as queued. The caller holds
     * the lock.
     */
    boolean markQueued() {
        if (queued || direct || incomplete.isEmpty()) {
            return false;
        }
        queued = true;
        return true;
    }

    /** Whether the lane has batches to send. On the loop, which holds the lock. */
    boolean hasWork() {
        return open != null || !closed.isEmpty() || !retry.isEmpty();
    }

    /** Notes that the loop has taken the lane out of its queue. The caller holds the lock. */
    void unmarkQueued() {
        queued = false;
    }

    /** Rejects further batches. The caller holds the lock. */
    void shut() {
        shut = true;
    }

    void checkNotShut() {
        if (shut) {
            throw Cluster.closedClient();
        }
    }

    /**
     * Closes the open batch and returns it, so that the caller builds it; returns null if there is none. The caller
     * holds the lock.
     */
    PendingBatch closeOpen() {
        PendingBatch batch = takeOpen();
        if (batch != null) {
            closed.add(batch);
        }
        return batch;
    }

    /** Takes the open batch, which is sent after all closed ones; null if there is none. The caller holds the lock. */
    PendingBatch takeOpen() {
        PendingBatch batch = open;
        if (batch != null) {
            open = null;
            batch.place = nextPlace();
        }
        return batch;
    }

    /** Adds a batch that was filled at once after all others. The caller holds the lock. */
    void addClosed(PendingBatch batch) {
        batch.place = nextPlace();
        closed.add(batch);
        incomplete.add(batch);
    }

    /**
     * Gives the batch that is sent next its place among the sealed batches; null if batches are not sealed. The caller
     * holds the lock, so that places have the order in which batches are sent.
     */
    BatchSealer.Place nextPlace() {
        BatchSealer sealer = topic.sealer();
        return sealer == null ? null : sealer.place(id);
    }

    /** The maximum number of batches in flight. */
    int maxInFlight() {
        return established || producerId == RecordBatch.NO_PRODUCER_ID ? MAX_IN_FLIGHT : 1;
    }

    /** Assigns sequence numbers to a batch. Called by the owner of the sending state. */
    void number(PendingBatch batch, int recordCount) {
        batch.number(producerId, producerEpoch, nextSequence);
        nextSequence = sequenceAfter(nextSequence, recordCount);
    }

    /** Returns the next sequence number. After the largest integer comes 0. */
    static int sequenceAfter(int sequence, int recordCount) {
        return sequence + recordCount & Integer.MAX_VALUE;
    }

    /** Inserts a batch to send again, sorted by its order. On the loop. */
    void addRetry(PendingBatch batch) {
        ArrayDeque<PendingBatch> later = new ArrayDeque<>();
        while (!retry.isEmpty() && retry.peekLast().order > batch.order) {
            later.addFirst(retry.pollLast());
        }
        retry.addLast(batch);
        retry.addAll(later);
    }

    @Override
    public String toString() {
        return id.toString();
    }
}
