package io.journalq.server.control;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.Message;
import io.journalq.server.control.MetadataLog.Role;
import io.journalq.server.metadata.Decision;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TopicImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs operations on the metadata, one at a time on a dedicated thread. A fresh decider decides on each operation and
 * is then dropped: the metadata itself changes only when the log has committed the records of the operation. The future
 * of an operation completes when that is done and, except with {@link #submitUnpublished}, the resulting image is
 * published. The next operation does not wait for the publication.
 *
 * <p>Any thread may call any method. A future fails if the queue is closed or already has {@link #MAX_OPERATIONS}
 * operations of its kind that are not complete.
 */
final class OperationQueue {
    private static final Logger log = LoggerFactory.getLogger(OperationQueue.class);

    private static final long CLOSE_TIMEOUT_SECONDS = 30;

    /**
     * Maximum number of operations that are not complete; more are rejected at once. It applies to
     * {@link #submitUnpublished} and to the others separately.
     */
    static final int MAX_OPERATIONS = 1_000;

    private final MetadataReplica replica;
    private final MetadataLog metadataLog;
    private final ExecutorService thread;

    /** Runs when a term of this broker begins. */
    private Runnable onTerm = () -> {};

    /** What the log has reported last, on any thread. Null before that. */
    private volatile Role reported;

    /** Null until the log is open. As {@link #reported}, but {@code LEADING} only from the begin of the term. */
    private volatile Role role;

    /** Completed when the log has failed. Only a restart opens it again. */
    private final CompletableFuture<Void> failed = new CompletableFuture<>();

    /** Whether the metadata is that of this broker's cluster, so that records may follow it. */
    private volatile boolean checked;

    /** Held while a report of the log is noted, so that an older one does not replace it. */
    private final Object reporting = new Object();

    /** The term in which this broker decides, if the log elects the leader. */
    private int term;

    /** Number of submitted operations that are not complete, and may wait long for their publication. */
    private final AtomicInteger incompletePublished = new AtomicInteger();

    /** Number of the others that are not complete. Those that wait for their publication must not prevent them. */
    private final AtomicInteger incompleteUnpublished = new AtomicInteger();

    /** Operations that begin after the proposal in flight. */
    private final Deque<Operation<?>> delayed = new ArrayDeque<>();

    /** Whether a proposal is in flight. */
    private boolean proposing;

    OperationQueue(MetadataReplica replica, MetadataLog metadataLog, ExecutorService thread) {
        this.replica = replica;
        this.metadataLog = metadataLog;
        this.thread = thread;
    }

    /** Called before {@link #start}. */
    void onTerm(Runnable work) {
        onTerm = work;
    }

    /** As {@link Controller#start}. */
    CompletableFuture<Void> start(Controller.ClusterCheck check, Supplier<Uuid> ids) throws IOException {
        metadataLog.onRole(this::onRole);
        metadataLog.open(replica);
        MetadataImage image = replica.image();
        check.accept(image.clusterId());
        if (metadataLog.electsLeader()) {
            synchronized (reporting) {
                checked = true;
                onRole(reported);
            }
            return replica.published();
        }
        Controller.checkNotOfQuorum(image);
        synchronized (reporting) {
            checked = true;
            role = reported;
        }
        MetadataMachine decider = replica.newDecider(image);
        Decision first = decider.isFormatted() ? decider.startNode() : decider.format(ids.get());
        if (first.records().isEmpty()) {
            return replica.published();
        }
        return metadataLog
                .propose(new MetadataBatch(image.version(), first.records()))
                .thenCompose(applied -> replica.published());
    }

    private void onRole(Role now) {
        synchronized (reporting) {
            reported = now;
            if (checked && now == Role.LEADING && metadataLog.electsLeader()) {
                beginTermSoon();
            } else if (checked) {
                role = now;
            }
        }
        if (now == Role.FAILED) {
            failed.complete(null);
        }
    }

    /** The thread of the log must not wait for the controller's. */
    private void beginTermSoon() {
        try {
            thread.execute(this::beginTerm);
        } catch (RejectedExecutionException closed) {
            log.debug("the controller is closed", closed);
        }
    }

    /** Begins to decide, on the state that everything up to the election has produced. */
    private synchronized void beginTerm() {
        synchronized (reporting) {
            // It may have changed in the meantime.
            role = reported;
            if (reported != Role.LEADING) {
                return;
            }
        }
        int elected = metadataLog.members().term();
        term = elected;
        onTerm.run();
        Operation<Void> first = new Operation<>(draft -> null, OperationQueue::failed, true);
        var unused = first.result.whenComplete((begun, failure) -> {
            if (failure == null) {
                log.info("this broker is the controller: term={}", elected);
            } else {
                log.warn("this broker cannot begin its term as the controller yet: term={}", elected, failure);
            }
        });
        delayed.addFirst(first);
        runDelayed();
    }

    /** Completed when the log has failed for good. Any thread. */
    CompletableFuture<Void> whenFailed() {
        return failed;
    }

    /** Whether this broker decides. */
    boolean leads() {
        return role == Role.LEADING;
    }

    /** Runs {@code work} between operations if this broker decides then. */
    void whileLeading(Runnable work) {
        if (leads()) {
            execute(
                    () -> {
                        if (leads()) {
                            work.run();
                        }
                    },
                    () -> log.debug("the controller is closed"));
        }
    }

    /**
     * Runs {@code work} on the controller's thread. The lock keeps it apart from operations.
     *
     * @param ifClosed runs instead if the controller is being closed
     */
    void execute(Runnable work, Runnable ifClosed) {
        try {
            thread.execute(() -> guarded(work));
        } catch (RejectedExecutionException closed) {
            ifClosed.run();
        }
    }

    private synchronized void guarded(Runnable work) {
        work.run();
    }

    /** Decides on each item, with the decisions on those before it; one outcome each, in order. */
    <T> CompletableFuture<List<Outcome>> forEach(
            List<T> items, boolean validateOnly, BiFunction<MetadataMachine, T, Step> decide) {
        if (items.isEmpty()) {
            return CompletableFuture.completedFuture(List.of());
        }
        return submit(draft -> draft.addEach(items, validateOnly, decide), OperationQueue::logFailures);
    }

    /**
     * Runs an operation.
     *
     * @param decide adds decisions to a draft and returns the result for the case that they are committed
     * @param onLogFailure turns this result into the one for the case that they are not, or throws
     */
    <T> CompletableFuture<T> submit(Function<Draft, T> decide, UnaryOperator<T> onLogFailure) {
        return submit(new Operation<>(decide, onLogFailure, true));
    }

    /**
     * Runs an operation of the controller itself or about a broker, as {@link #submit}. It is complete when its records
     * are applied. Their publication can take long, because this broker opens the partitions of a new topic before.
     * Brokers that die meanwhile have to be fenced, and others wait for the response before they serve, or for those to
     * later heartbeats on the same connection.
     */
    <T> CompletableFuture<T> submitUnpublished(Function<Draft, T> decide, UnaryOperator<T> onLogFailure) {
        return submit(new Operation<>(decide, onLogFailure, false));
    }

    private <T> CompletableFuture<T> submit(Operation<T> operation) {
        AtomicInteger incomplete = operation.published ? incompletePublished : incompleteUnpublished;
        if (incomplete.incrementAndGet() > MAX_OPERATIONS) {
            incomplete.decrementAndGet();
            return CompletableFuture.failedFuture(new RejectedExecutionException("too many operations are waiting"));
        }
        try {
            thread.execute(() -> accept(operation));
        } catch (RejectedExecutionException closed) {
            incomplete.decrementAndGet();
            return CompletableFuture.failedFuture(closed);
        }
        var unused = operation.result.whenComplete((result, failure) -> incomplete.decrementAndGet());
        return operation.result;
    }

    private synchronized void accept(Operation<?> operation) {
        delayed.add(operation);
        runDelayed();
    }

    private void runDelayed() {
        while (!proposing && !delayed.isEmpty()) {
            run(delayed.poll());
        }
    }

    private <T> void run(Operation<T> operation) {
        Role now = role;
        if (now == Role.FOLLOWING || now == null) {
            operation.fail(new NotControllerException(metadataLog.members()));
            return;
        }
        MetadataImage image = replica.image();
        Draft draft = new Draft(replica.newDecider(image), metadataLog, replica.level());
        try {
            if (metadataLog.electsLeader()) {
                // Adds a record only if the term has none yet.
                draft.add(new Step(draft.decider.beginTerm(term), null), false);
            }
            T decided = operation.decide.apply(draft);
            if (draft.parts.isEmpty() || now != Role.LEADING) {
                completeWhenPublished(operation, decided, now == Role.LEADING);
                return;
            }
            proposing = true;
            propose(operation, decided, image.version(), new ArrayDeque<>(draft.batches()));
        } catch (RuntimeException | Error failure) {
            proposing = false;
            operation.fail(failure);
        }
    }

    /**
     * Proposes one batch after the other. No other operation begins before the last one is committed. If one is not, the
     * following ones are not proposed.
     */
    private <T> void propose(Operation<T> operation, T decided, long baseOffset, Deque<List<Message>> batches) {
        MetadataBatch batch = new MetadataBatch(baseOffset, batches.remove());
        CompletableFuture<Void> proposal = metadataLog.propose(batch);
        if (batches.isEmpty() && proposal.isDone()) {
            onProposed(proposal, operation, decided);
            return;
        }
        Runnable goOn = () -> {
            if (batches.isEmpty() || proposal.isCompletedExceptionally()) {
                onProposed(proposal, operation, decided);
            } else {
                proposeNext(operation, decided, baseOffset + batch.records().size(), batches);
            }
            runDelayed();
        };
        var unused = proposal.whenComplete((applied, failure) -> execute(goOn, () -> guarded(goOn)));
    }

    private <T> void proposeNext(Operation<T> operation, T decided, long baseOffset, Deque<List<Message>> batches) {
        try {
            propose(operation, decided, baseOffset, batches);
        } catch (RuntimeException | Error failure) {
            proposing = false;
            operation.fail(failure);
        }
    }

    private <T> void onProposed(CompletableFuture<Void> proposal, Operation<T> operation, T decided) {
        proposing = false;
        var unused = proposal.whenComplete((applied, failure) -> {
            if (failure != null && metadataLog.electsLeader() && role != Role.FAILED) {
                log.warn("event=metadata-change-unknown reason=\"{}\"", failure.getMessage());
                operation.fail(new NotControllerException(failure));
                return;
            }
            if (failure != null) {
                log.error(
                        "event=metadata-log-failed remedy=\"free space on the disk or repair it, then restart the"
                                + " broker\"",
                        failure);
            }
            completeWhenPublished(operation, decided, failure == null);
        });
    }

    /** Clients find in the image what the outcome of their operation says, even if that was already there. */
    private <T> void completeWhenPublished(Operation<T> operation, T decided, boolean committed) {
        CompletableFuture<Void> awaited =
                operation.published ? replica.published() : CompletableFuture.completedFuture(null);
        var unused = awaited.thenRun(() -> operation.complete(decided, committed));
    }

    /** The result of an operation that was not committed. */
    static <T> T failed(T uncommitted) {
        throw new UncheckedIOException(new IOException("cannot write the metadata log"));
    }

    /** The outcomes of the items of an operation that was not committed. */
    static List<Outcome> logFailures(List<Outcome> uncommitted) {
        uncommitted.replaceAll(outcome -> outcome.error() == ErrorCode.NONE ? logFailure() : outcome);
        return uncommitted;
    }

    private static Outcome logFailure() {
        return new Outcome(ErrorCode.KAFKA_STORAGE_ERROR, "cannot write the metadata log; see the broker's log", null);
    }

    /** Finishes the operations in progress, rejects others and closes the log. */
    void close() throws IOException {
        thread.shutdown();
        try {
            if (!thread.awaitTermination(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("the controller did not stop within " + CLOSE_TIMEOUT_SECONDS + " s");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        metadataLog.close();
    }

    /** A decision, its topic if it is known, and the topic that it would create if it is only validated. */
    record Step(Decision decision, Uuid topicId, TopicImage validated) {
        Step(Decision decision, Uuid topicId) {
            this(decision, topicId, null);
        }
    }

    /** An operation from its submission to its result. */
    private static final class Operation<T> {
        private final Function<Draft, T> decide;
        private final UnaryOperator<T> onLogFailure;
        private final boolean published;
        private final CompletableFuture<T> result = new CompletableFuture<>();

        /**
         * Creates an operation.
         *
         * @param decide adds decisions to a draft and returns the result for the case that they are committed
         * @param onLogFailure turns this result into the one for the case that they are not, or throws
         * @param published whether the operation is complete only when its image is published
         */
        Operation(Function<Draft, T> decide, UnaryOperator<T> onLogFailure, boolean published) {
            this.decide = decide;
            this.onLogFailure = onLogFailure;
            this.published = published;
        }

        void complete(T decided, boolean committed) {
            try {
                result.complete(committed ? decided : onLogFailure.apply(decided));
            } catch (RuntimeException failure) {
                fail(failure);
            }
        }

        void fail(Throwable failure) {
            if (failure instanceof RuntimeException) {
                log.error("event=metadata-operation-failed", failure);
            }
            result.completeExceptionally(failure);
        }
    }

    /** The decisions on one operation. Later ones build on earlier ones, before any of them is committed. */
    static final class Draft {
        private final MetadataMachine decider;
        private final MetadataLog log;
        private final int level;
        /** Records that are committed together. */
        private final List<List<Message>> parts = new ArrayList<>();

        Draft(MetadataMachine decider, MetadataLog log, int level) {
            this.decider = decider;
            this.log = log;
            this.level = level;
        }

        MetadataMachine decider() {
            return decider;
        }

        Outcome add(Step step, boolean validateOnly) {
            Decision decision = step.decision();
            if (!decision.accepted()) {
                return new Outcome(decision.error(), decision.reason(), step.topicId());
            }
            if (!decision.divisible() && !ProposalBatches.fits(decision.records(), level, log.maxBatchBytes())) {
                return new Outcome(
                        ErrorCode.POLICY_VIOLATION,
                        "the change is too large for one batch of the metadata log, which can have "
                                + log.maxBatchBytes() + " bytes; divide it, for example create a topic with fewer"
                                + " partitions, and add the others in several steps",
                        step.topicId());
            }
            if (!validateOnly && !decision.records().isEmpty()) {
                if (decision.divisible()) {
                    decision.records().forEach(record -> parts.add(List.of(record)));
                } else {
                    parts.add(decision.records());
                }
                decider.replay(decision.records());
            }
            return new Outcome(ErrorCode.NONE, null, step.topicId(), step.validated());
        }

        /** Adds a decision on each item; one outcome each, in order. */
        <T> List<Outcome> addEach(List<T> items, boolean validateOnly, BiFunction<MetadataMachine, T, Step> decide) {
            List<Outcome> outcomes = new ArrayList<>(items.size());
            for (T item : items) {
                outcomes.add(add(decide.apply(decider, item), validateOnly));
            }
            return outcomes;
        }

        /** A log without elections takes batches of any size. */
        private List<List<Message>> batches() {
            return log.electsLeader()
                    ? ProposalBatches.divide(parts, level)
                    : List.of(parts.stream().flatMap(List::stream).toList());
        }
    }
}
