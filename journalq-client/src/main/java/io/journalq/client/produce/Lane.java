package io.journalq.client.produce;

import io.journalq.client.error.ClientClosedException;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.RecordBatch;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What one producer sends to one partition: the open batch that senders append to, and the batches behind it in the
 * order in which they reach the journal.
 *
 * <p>Two owners. What stands under {@link #lock} belongs to whoever holds it: senders, and the event loop for a moment.
 * The sending state below it belongs to the event loop; except that, while the lane is idle, one synchronous sender may
 * claim it under the lock ({@link #claimDirect}) to do its own input and output, and until it gives it back the loop
 * leaves the lane alone. A lane's lock is taken alone or before a {@link BuilderPool}'s, never two lanes' together.
 */
final class Lane {
    /** Batches sent and not answered that a broker remembers for telling repeats (KIP-98). */
    static final int MAX_IN_FLIGHT = 5;

    final TopicPartition id;
    final TopicLanes topic;
    final ReentrantLock lock = new ReentrantLock();

    // Under the lock.
    PendingBatch open;
    final ArrayDeque<PendingBatch> closed = new ArrayDeque<>(2);
    /** Every batch that is not settled, oldest first. */
    final ArrayDeque<PendingBatch> incomplete = new ArrayDeque<>(MAX_IN_FLIGHT + 2);

    /** Whether the batch before the open one held more than one record: so will the next, probably. */
    boolean lastBatchHeldMany;

    private boolean direct;
    private boolean queued;
    private boolean shut;

    // The event loop's, or the direct sender's.
    final ArrayDeque<PendingBatch> inFlight = new ArrayDeque<>(MAX_IN_FLIGHT);
    final ArrayDeque<PendingBatch> retry = new ArrayDeque<>(2);
    int inFlightNode;
    long blockedUntilNanos;
    boolean blocked;
    boolean stalled;
    /** Whether the broker lost track of this producer's numbers: see {@link Settling#renumberRejected}. */
    boolean probing;

    long producerId = RecordBatch.NO_PRODUCER_ID;
    short producerEpoch;
    int nextSequence;
    /**
     * Whether the broker acknowledged a batch under the present producer id and epoch. Before that it takes any number
     * for the first, so only one batch may be on its way.
     */
    boolean established;

    long nextOrder;
    /** Which request of the current drain the lane's last batch went into. */
    long drain;

    int round;

    Lane(TopicLanes topic, int partition) {
        this.topic = topic;
        this.id = new TopicPartition(topic.name(), partition);
    }

    /** Whether nothing is on its way: then claims the sending state for the caller. Under the lock. */
    boolean claimDirect() {
        if (direct || shut || !incomplete.isEmpty()) {
            return false;
        }
        direct = true;
        return true;
    }

    /** Gives the sending state back; returns whether the loop has work. Under the lock. */
    boolean releaseDirect() {
        direct = false;
        return markQueued();
    }

    boolean isDirect() {
        return direct;
    }

    /** Whether the caller must put the lane into the loop's queue, which it then is in. Under the lock. */
    boolean markQueued() {
        if (queued || direct || incomplete.isEmpty()) {
            return false;
        }
        queued = true;
        return true;
    }

    /** Whether the loop could do something for the lane. On the loop, under the lock. */
    boolean hasWork() {
        return open != null || !closed.isEmpty() || !retry.isEmpty();
    }

    /** The loop took the lane out of its queue. Under the lock. */
    void unmarkQueued() {
        queued = false;
    }

    /** No more batches. Under the lock. */
    void shut() {
        shut = true;
    }

    void checkNotShut() {
        if (shut) {
            throw new ClientClosedException("the producer is closed; build another");
        }
    }

    /** Closes the open batch; returns it for the caller to build, or null when there is none. Under the lock. */
    PendingBatch closeOpen() {
        PendingBatch batch = open;
        if (batch != null) {
            open = null;
            closed.add(batch);
        }
        return batch;
    }

    /** Batches that may be in flight now. */
    int maxInFlight() {
        return established || producerId == RecordBatch.NO_PRODUCER_ID ? MAX_IN_FLIGHT : 1;
    }

    /** Takes numbers for a batch. By the owner of the sending state. */
    void number(PendingBatch batch, int recordCount) {
        batch.number(producerId, producerEpoch, nextSequence);
        nextSequence = sequenceAfter(nextSequence, recordCount);
    }

    /** Sequence numbers go round from the largest integer to 0. */
    static int sequenceAfter(int sequence, int recordCount) {
        return sequence + recordCount & Integer.MAX_VALUE;
    }

    /** Puts a batch that must be sent again where its order wants it. On the loop. */
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
