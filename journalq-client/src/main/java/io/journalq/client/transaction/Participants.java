package io.journalq.client.transaction;

import io.journalq.client.JournalQException;
import io.journalq.client.coordinator.Coordinator;
import io.journalq.client.produce.Gate;
import io.journalq.common.id.TopicPartition;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The partitions of the open transaction. In the protocol's first generation each must be told to the coordinator before
 * its first batch goes out; in the second the broker does that when the batch comes. Belongs to the event loop, except
 * where a method says otherwise.
 */
final class Participants implements Gate {
    private static final short NEWEST_PRODUCE_OF_FIRST = 11;

    private final TransactionConfig config;
    private final Coordinator coordinator;
    private final long timeoutMs;
    private final Set<TopicPartition> added = new HashSet<>();
    private final Set<TopicPartition> waiting = new LinkedHashSet<>();
    private final Hold hold;
    private ProducerIdentity identity = ProducerIdentity.NONE;
    private boolean second;
    private CompletableFuture<?> asked = CompletableFuture.completedFuture(null);
    private volatile boolean touched;
    private volatile JournalQException failure;

    /** The batches that the gate holds back. */
    interface Hold {
        /** Lets them look again. */
        void release();

        /** Fails them, after what the loop is doing now. */
        void fail(JournalQException cause);
    }

    Participants(TransactionConfig config, Coordinator coordinator, long timeoutMs, Hold hold) {
        this.config = config;
        this.coordinator = coordinator;
        this.timeoutMs = timeoutMs;
        this.hold = hold;
    }

    /** A transaction begins. */
    void begin(ProducerIdentity itsIdentity, boolean secondGeneration) {
        identity = itsIdentity;
        second = secondGeneration;
        added.clear();
        waiting.clear();
        touched = false;
        failure = null;
    }

    /** Whether anything may take part in the transaction. Any thread. */
    boolean isTouched() {
        return touched;
    }

    /** Something takes part. Any thread. */
    void touch() {
        touched = true;
    }

    /** Why the transaction cannot commit; null when nothing is against it. Any thread. */
    JournalQException failure() {
        return failure;
    }

    /** Completes when the coordinator is asked nothing any more. */
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
            // The transaction cannot commit: nothing more need be told or sent.
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
        ProducerIdentity asking = identity;
        asked = coordinator
                .ask(Questions.addPartitions(config, asking, partitions), timeoutMs)
                .whenComplete((answer, refusal) -> onAnswer(partitions, refusal));
    }

    private void onAnswer(List<TopicPartition> partitions, Throwable refusal) {
        if (refusal == null) {
            added.addAll(partitions);
            hold.release();
        } else if (refusal instanceof JournalQException cause) {
            onFailed(cause);
            hold.fail(cause);
        }
    }
}
