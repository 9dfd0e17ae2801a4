package io.journalq.client.internal.transaction;

import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.ProducerReplacedException;
import io.journalq.client.error.TransactionAbortedException;
import io.journalq.client.error.TransactionUnknownException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.client.internal.coordinator.Coordinator;
import io.journalq.client.internal.coordinator.CoordinatorRequest;
import io.journalq.client.internal.network.Cluster;
import io.journalq.client.internal.produce.Gate;
import io.journalq.client.internal.produce.ProducerConfig;
import io.journalq.client.internal.produce.Sender;
import io.journalq.client.transaction.TransactionBody;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Runs the transactions of a producer one after the other. Callers wait while another transaction is open.
 *
 * <p>Uses the second version of the transaction protocol (KIP-890, part 2) if the broker reports {@code
 * transaction.version} 2. Then the client need not add partitions at the coordinator, and each end of a transaction
 * increments the epoch of the producer. Otherwise uses the first version (KIP-98). Thread-safe.
 */
public final class TransactionRunner {
    /**
     * The settings of a transactional producer. Immutable. {@link io.journalq.client.Producer.Builder} creates it and
     * documents each setting.
     */
    public record Config(String transactionalId, int timeoutMs) {}

    /**
     * The producer id and epoch of a transactional producer. Each commit and abort increments the epoch (KIP-890, part
     * 2).
     */
    record ProducerIdentity(long producerId, short epoch) {
        static final ProducerIdentity NONE = new ProducerIdentity(-1, (short) -1);
    }

    private static final String FEATURE = "transaction.version";
    private static final short SECOND_GENERATION = 2;
    private static final int MAX_GROUPS_KNOWN = 64;

    private final Config config;
    private final Sender sender;
    private final Coordinator coordinator;
    private final TransactionPartitions participants;
    private final Map<String, Coordinator> groups = new ConcurrentHashMap<>();
    private final int callTimeoutMs;
    private final long waitTimeoutMs;
    private final ReentrantLock lock = new ReentrantLock();

    private volatile boolean closed;

    // Guarded by lock.
    private ProducerIdentity identity = ProducerIdentity.NONE;
    private boolean started;
    private volatile boolean second;
    private ProducerReplacedException replaced;

    /** Creates the sender as well, because everything that it sends must pass the gate of this class. */
    public TransactionRunner(ProducerConfig producerConfig, Config config) {
        this.config = config;
        this.callTimeoutMs = producerConfig.client().callTimeoutMs();
        this.waitTimeoutMs = (long) callTimeoutMs + producerConfig.client().requestTimeoutMs();
        LateGate gate = new LateGate();
        this.sender = new Sender(producerConfig, gate);
        this.coordinator = new Coordinator(sender.cluster(), Coordinator.Kind.TRANSACTION, config.transactionalId());
        this.participants =
                new TransactionPartitions(config, coordinator, callTimeoutMs, new TransactionPartitions.Hold() {
                    @Override
                    public void release() {
                        sender.onAdmitted();
                    }

                    @Override
                    public void fail(JournalQException cause) {
                        sender.cluster().execute(() -> sender.failWaiting(cause));
                    }
                });
        gate.open(participants);
    }

    /** The sender that transactions use. */
    public Sender sender() {
        return sender;
    }

    /** Closes the sender. An open transaction fails, and its coordinator aborts it after its timeout. */
    public void close() {
        closed = true;
        sender.close();
    }

    /** See {@link io.journalq.client.Producer#inTransaction}. */
    public <E extends Exception> void run(TransactionBody<E> body) throws E {
        if (lock.isHeldByCurrentThread()) {
            throw new IllegalStateException("transactions cannot be nested; use the open transaction");
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
                ask(coordinator, TransactionRequests.addOffsets(config, current, member.groupId()));
            }
            if (groups.size() >= MAX_GROUPS_KNOWN) {
                groups.clear();
            }
            Coordinator ofGroup = groups.computeIfAbsent(
                    member.groupId(), id -> new Coordinator(sender.cluster(), Coordinator.Kind.GROUP, id));
            ask(ofGroup, TransactionRequests.commitOffsets(config, current, second, member, offsets));
        } catch (JournalQException e) {
            onLoop(() -> participants.onFailed(current, e));
            throw e;
        }
    }

    private void begin() {
        if (closed) {
            throw Cluster.closedClient();
        }
        if (replaced != null) {
            throw replaced;
        }
        if (!started) {
            InitProducerIdResponse response;
            try {
                response = ask(coordinator, TransactionRequests.init(config, identity));
            } catch (ProducerReplacedException e) {
                replaced = e;
                throw e;
            }
            identity = new ProducerIdentity(response.producerId(), response.producerEpoch());
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
                                    + " was aborted because a request in it failed: " + failure.getMessage()
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
            if (e.retriable() || e instanceof ClientClosedException) {
                throw new TransactionUnknownException(
                        "it is unknown whether transaction " + config.transactionalId() + " is committed ("
                                + e.getMessage() + "); check before you run it again",
                        e);
            }
            JournalQException aborted = new TransactionAbortedException(
                    "transaction " + config.transactionalId() + " could not be committed: " + e.getMessage(), e);
            abortAfter(aborted);
            throwReplacedInsteadOf(aborted);
            throw aborted;
        }
    }

    /** If the producer was replaced, that is the cause of all other errors of its requests. */
    private void throwReplacedInsteadOf(Throwable consequence) {
        if (replaced != null && replaced != consequence && consequence instanceof JournalQException) {
            replaced.addSuppressed(consequence);
            throw replaced;
        }
    }

    /** Aborts the transaction. If the abort fails as well, its exception is suppressed in {@code reason}. */
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
            // Batches that were numbered but not sent have left gaps in the sequence numbers, so the producer needs a
            // new epoch.
            started = false;
        }
    }

    private void end(boolean commit) {
        EndTxnResponse response;
        try {
            response = ask(coordinator, TransactionRequests.end(config, identity, second, commit));
        } catch (ProducerReplacedException e) {
            replaced = e;
            throw e;
        } catch (JournalQException e) {
            started = false;
            throw e;
        }
        if (second && response.producerId() >= 0) {
            identity = new ProducerIdentity(response.producerId(), response.producerEpoch());
        }
    }

    private void awaitSettled() {
        CompletableFuture<Void> settled = new CompletableFuture<>();
        onLoop(() -> {
            var unused = participants.settled().whenComplete((done, ignored) -> settled.complete(null));
        });
        sender.cluster().waits().join(settled, waitTimeoutMs, "transaction " + config.transactionalId());
    }

    private <R extends ApiMessage> R ask(Coordinator whom, CoordinatorRequest<R> coordinatorRequest) {
        return sender.cluster()
                .waits()
                .join(whom.ask(coordinatorRequest, callTimeoutMs), waitTimeoutMs, coordinatorRequest.toString());
    }

    private void onLoop(Runnable task) {
        sender.cluster().executeAndWait(task);
    }

    /**
     * A gate whose implementation is set later, because it needs the sender that needs the gate. Set once, before anything
     * is sent. Then on the event loop.
     */
    private static final class LateGate implements Gate {
        private volatile Gate gate = Gate.OPEN;

        void open(Gate decides) {
            gate = decides;
        }

        @Override
        public boolean admits(TopicPartition partition) {
            return gate.admits(partition);
        }

        @Override
        public short newestProduceVersion() {
            return gate.newestProduceVersion();
        }

        @Override
        public void onFailed(JournalQException cause) {
            gate.onFailed(cause);
        }
    }
}
