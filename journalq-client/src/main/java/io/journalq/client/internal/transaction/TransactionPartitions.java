package io.journalq.client.internal.transaction;

import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.coordinator.Coordinator;
import io.journalq.client.internal.produce.Gate;
import io.journalq.common.id.TopicPartition;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The partitions of the open transaction. In the first version of the protocol, the client adds each partition at the
 * coordinator before it sends the first batch. In the second version, the broker does that when the batch arrives.
 * Belongs to the event loop, except for methods that say otherwise.
 */
final class TransactionPartitions implements Gate {
    private static final short NEWEST_PRODUCE_OF_FIRST = 11;

    private final TransactionRunner.Config config;
    private final Coordinator coordinator;
    private final long timeoutMs;
    private final Set<TopicPartition> added = new HashSet<>();
    private final Set<TopicPartition> waiting = new LinkedHashSet<>();
    private final Hold hold;
    private TransactionRunner.ProducerIdentity identity = TransactionRunner.ProducerIdentity.NONE;
    private boolean second;
    private CompletableFuture<?> asked = CompletableFuture.completedFuture(null);
    private volatile boolean touched;
    private volatile JournalQException failure;

    /** Controls the batches that the gate holds back. */
    interface Hold {
        /** Tries to send the batches again. */
        void release();

        /** Fails the batches, after the current task of the event loop. */
        void fail(JournalQException cause);
    }

    TransactionPartitions(TransactionRunner.Config config, Coordinator coordinator, long timeoutMs, Hold hold) {
        this.config = config;
        this.coordinator = coordinator;
        this.timeoutMs = timeoutMs;
        this.hold = hold;
    }

    /** Starts a transaction. */
    void begin(TransactionRunner.ProducerIdentity itsIdentity, boolean secondGeneration) {
        identity = itsIdentity;
        second = secondGeneration;
        added.clear();
        waiting.clear();
        touched = false;
        failure = null;
    }

    /** Whether the transaction may contain records or offsets. Any thread. */
    boolean isTouched() {
        return touched;
    }

    /** Notes that the transaction may contain records or offsets. Any thread. */
    void touch() {
        touched = true;
    }

    /** Returns why the transaction cannot be committed, or null if it can. Any thread. */
    JournalQException failure() {
        return failure;
    }

    /** Completes when no request to the coordinator is in progress. */
    CompletableFuture<Void> settled() {
        return asked.handle((done, ignored) -> null);
    }

    @Override
    public boolean admits(TopicPartition partition) {
        touched = true;
        if (second || added.contains(partition)) {
            return true;
        }
        if (failure != null) {
            // The transaction cannot be committed, so nothing more has to be added or sent.
            hold.fail(failure);
            return false;
        }
        waiting.add(partition);
        ask();
        return false;
    }

    @Override
    public short newestProduceVersion() {
        return second ? Gate.OPEN.newestProduceVersion() : NEWEST_PRODUCE_OF_FIRST;
    }

    /** A request has failed. It does not count if it is one of an earlier transaction, which is aborted by now. */
    void onFailed(TransactionRunner.ProducerIdentity asking, JournalQException cause) {
        if (asking.equals(identity)) {
            onFailed(cause);
        }
    }

    @Override
    public void onFailed(JournalQException cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    private void ask() {
        if (!asked.isDone()) {
            return;
        }
        List<TopicPartition> partitions = List.copyOf(waiting);
        waiting.clear();
        TransactionRunner.ProducerIdentity asking = identity;
        asked = coordinator
                .ask(TransactionRequests.addPartitions(config, asking, partitions), timeoutMs)
                .whenComplete((response, refusal) -> onResponse(asking, partitions, refusal));
    }

    private void onResponse(
            TransactionRunner.ProducerIdentity asking, List<TopicPartition> partitions, Throwable refusal) {
        if (!asking.equals(identity)) {
            // It is that of an earlier transaction, whose thread was interrupted, so that its abort did not wait for
            // it. Batches of this transaction may have waited for its end to ask for their own partitions.
            hold.release();
        } else if (refusal == null) {
            added.addAll(partitions);
            hold.release();
        } else if (refusal instanceof JournalQException cause) {
            onFailed(cause);
            hold.fail(cause);
        }
    }
}
