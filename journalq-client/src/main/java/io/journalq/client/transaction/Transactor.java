package io.journalq.client.transaction;

import io.journalq.client.JournalQException;
import io.journalq.client.coordinator.Coordinator;
import io.journalq.client.coordinator.Question;
import io.journalq.client.coordinator.Waiting;
import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.ProducerReplacedException;
import io.journalq.client.error.TransactionAbortedException;
import io.journalq.client.error.TransactionUnknownException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.client.produce.ProducerConfig;
import io.journalq.client.produce.Sender;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Runs a producer's transactions, one after the other: whoever comes while one is open waits. Uses the protocol's second
 * generation (KIP-890, part 2) where the broker says {@code transaction.version} 2: then no partition has to be told before
 * it is written to, and each end moves the producer to its next epoch; else the first (KIP-98). Thread-safe.
 */
public final class Transactor {
    private static final String FEATURE = "transaction.version";
    private static final short SECOND_GENERATION = 2;
    private static final int MAX_GROUPS_KNOWN = 64;

    private final TransactionConfig config;
    private final Sender sender;
    private final Coordinator coordinator;
    private final Participants participants;
    private final Map<String, Coordinator> groups = new ConcurrentHashMap<>();
    private final int callTimeoutMs;
    private final int waitTimeoutMs;
    private final ReentrantLock lock = new ReentrantLock();

    private volatile boolean closed;

    // Under the lock.
    private ProducerIdentity identity = ProducerIdentity.NONE;
    private boolean started;
    private volatile boolean second;
    private ProducerReplacedException replaced;

    /** Makes the sender too, for what it sends must pass here. */
    public Transactor(ProducerConfig producerConfig, TransactionConfig config) {
        this.config = config;
        this.callTimeoutMs = producerConfig.client().callTimeoutMs();
        this.waitTimeoutMs = callTimeoutMs + producerConfig.client().requestTimeoutMs();
        LateGate gate = new LateGate();
        this.sender = new Sender(producerConfig, gate);
        this.coordinator = new Coordinator(sender.cluster(), Coordinator.Kind.TRANSACTION, config.transactionalId());
        this.participants = new Participants(config, coordinator, callTimeoutMs, new Participants.Hold() {
            @Override
            public void release() {
                sender.onAdmitted();
            }

            @Override
            public void fail(JournalQException cause) {
                sender.cluster().eventLoop().execute(() -> sender.failWaiting(cause));
            }
        });
        gate.open(participants);
    }

    /** What sends for the transactions. */
    public Sender sender() {
        return sender;
    }

    /** Ends the sender. A transaction that is open fails, and its coordinator aborts it after its time-out. */
    public void close() {
        closed = true;
        sender.close();
    }

    /** See {@link io.journalq.client.Producer#inTransaction}. */
    public <E extends Exception> void run(TransactionBody<E> body) throws E {
        if (lock.isHeldByCurrentThread()) {
            throw new IllegalStateException("a transaction inside a transaction; use the one that is open");
        }
        lock.lock();
        try {
            begin();
            OpenTransaction transaction = new OpenTransaction(sender, this);
            try {
                body.run(transaction);
            } catch (Throwable t) {
                transaction.close();
                abortAfter(t);
                throwReplacedInsteadOf(t);
                throw t;
            }
            transaction.close();
            commit();
        } finally {
            lock.unlock();
        }
    }

    void commitOffsets(GroupMember member, Map<TopicPartition, CommittedOffset> offsets) {
        ProducerIdentity current = identity;
        participants.touch();
        try {
            if (!second) {
                ask(coordinator, Questions.addOffsets(config, current, member.groupId()));
            }
            if (groups.size() >= MAX_GROUPS_KNOWN) {
                groups.clear();
            }
            Coordinator ofGroup = groups.computeIfAbsent(
                    member.groupId(), id -> new Coordinator(sender.cluster(), Coordinator.Kind.GROUP, id));
            ask(ofGroup, Questions.commitOffsets(config, current, second, member, offsets));
        } catch (JournalQException e) {
            sender.cluster().eventLoop().submit(() -> participants.onFailed(e)).syncUninterruptibly();
            throw e;
        }
    }

    private void begin() {
        if (closed) {
            throw new ClientClosedException("the producer is closed; build another");
        }
        if (replaced != null) {
            throw replaced;
        }
        if (!started) {
            InitProducerIdResponse answer;
            try {
                answer = ask(coordinator, Questions.init(config, identity));
            } catch (ProducerReplacedException e) {
                replaced = e;
                throw e;
            }
            identity = new ProducerIdentity(answer.producerId(), answer.producerEpoch());
            started = true;
        }
        second = coordinator.featureLevel(FEATURE) >= SECOND_GENERATION;
        ProducerIdentity now = identity;
        boolean nowSecond = second;
        onLoop(() -> {
            participants.begin(now, nowSecond);
            sender.adopt(now.producerId(), now.epoch());
        });
    }

    private void commit() {
        try {
            sender.flush();
            awaitSettled();
        } catch (JournalQException e) {
            abortAfter(e);
            throw e;
        }
        JournalQException failure = participants.failure();
        if (failure != null) {
            JournalQException aborted = failure instanceof ProducerReplacedException
                    ? failure
                    : new TransactionAbortedException(
                            "transaction " + config.transactionalId()
                                    + " was aborted, for something that it sent failed: " + failure.getMessage()
                                    + "; run it again",
                            failure);
            abortAfter(aborted);
            throwReplacedInsteadOf(aborted);
            throw aborted;
        }
        if (participants.isTouched()) {
            endByCommit();
        }
    }

    private void endByCommit() {
        try {
            end(true);
        } catch (ProducerReplacedException e) {
            throw e;
        } catch (JournalQException e) {
            if (e.retriable()) {
                throw new TransactionUnknownException(
                        "whether transaction " + config.transactionalId() + " is committed is not known ("
                                + e.getMessage() + "); look before it is run again",
                        e);
            }
            JournalQException aborted = new TransactionAbortedException(
                    "transaction " + config.transactionalId() + " could not be committed: " + e.getMessage(), e);
            abortAfter(aborted);
            throwReplacedInsteadOf(aborted);
            throw aborted;
        }
    }

    /** That the producer was replaced explains whatever else went wrong with its requests. */
    private void throwReplacedInsteadOf(Throwable consequence) {
        if (replaced != null && replaced != consequence && consequence instanceof JournalQException) {
            replaced.addSuppressed(consequence);
            throw replaced;
        }
    }

    /** Aborts for a reason that the application hears; that aborting fails too is told along with it. */
    private void abortAfter(Throwable reason) {
        try {
            onLoop(() -> sender.failWaiting(new TransactionAbortedException(
                    "transaction " + config.transactionalId() + " was aborted before this record was sent", reason)));
            sender.flush();
            awaitSettled();
            if (participants.isTouched()) {
                end(false);
            }
        } catch (JournalQException e) {
            started = false;
            if (e != reason) {
                reason.addSuppressed(e);
            }
        }
        if (!second) {
            // Batches that were numbered and not sent left gaps: only another epoch begins anew.
            started = false;
        }
    }

    private void end(boolean commit) {
        EndTxnResponse answer;
        try {
            answer = ask(coordinator, Questions.end(config, identity, second, commit));
        } catch (ProducerReplacedException e) {
            replaced = e;
            throw e;
        } catch (JournalQException e) {
            started = false;
            throw e;
        }
        if (second && answer.producerId() >= 0) {
            identity = new ProducerIdentity(answer.producerId(), answer.producerEpoch());
        }
    }

    private void awaitSettled() {
        CompletableFuture<Void> settled = new CompletableFuture<>();
        onLoop(() -> {
            var unused = participants.settled().whenComplete((done, ignored) -> settled.complete(null));
        });
        Waiting.join(settled, waitTimeoutMs, "transaction " + config.transactionalId());
    }

    private <R extends ApiMessage> R ask(Coordinator whom, Question<R> question) {
        return Waiting.join(whom.ask(question, callTimeoutMs), waitTimeoutMs, question.toString());
    }

    private void onLoop(Runnable task) {
        sender.cluster().eventLoop().submit(task).syncUninterruptibly();
    }
}
