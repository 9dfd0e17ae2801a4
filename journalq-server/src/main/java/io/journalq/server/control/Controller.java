package io.journalq.server.control;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.Message;
import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.control.MetadataLog.Role;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.MetadataMachine.Decision;
import io.journalq.server.metadata.QuotaEntity;
import io.journalq.server.metadata.ResourceId;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclFilter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs operations on the metadata, one at a time on a dedicated thread. A fresh decider decides on each operation and
 * is then dropped: the metadata itself changes only when the log has committed the records of the operation. The future
 * of an operation completes when that is done and the resulting image is published. The next operation does not wait
 * for the publication.
 *
 * <p>Any thread may call any method. A future fails if the controller is closed or already has
 * {@link #MAX_OPERATIONS} operations that are not complete.
 */
public final class Controller implements ControllerOperations, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Controller.class);

    private static final long CLOSE_TIMEOUT_SECONDS = 30;

    /** Time between two calls of {@link #tick}. */
    public static final int TICK_MS = 50;

    /** Maximum number of operations that are not complete; more are rejected at once. */
    static final int MAX_OPERATIONS = 1_000;

    private final MetadataReplica replica;
    private final MetadataLog metadataLog;
    private final Supplier<Uuid> ids;
    private final ExecutorService thread;

    /** What the log has reported last, on any thread. Null before that. */
    private volatile Role reported;

    /** Null until the log is open. As {@link #reported}, but {@code LEADING} only from the begin of the term. */
    private volatile Role role;

    /** Whether the metadata is that of this broker's cluster, so that records may follow it. */
    private volatile boolean checked;

    /** The term in which this broker decides, if the log elects the leader. */
    private int term;

    /** Number of submitted operations that are not complete. */
    private final AtomicInteger operations = new AtomicInteger();

    /** Null for a broker that is alone. */
    private BrokerLiveness liveness;

    /** Operations that begin after the proposal in flight. */
    private final Deque<Operation<?>> delayed = new ArrayDeque<>();

    /** Whether a proposal is in flight. */
    private boolean proposing;

    /**
     * Creates a controller; {@link #start} starts it.
     *
     * @param replica the metadata of this broker, without state
     * @param ids generates unique ids; random except in tests
     * @param thread runs one task at a time; shut down with the controller
     */
    public Controller(MetadataReplica replica, MetadataLog metadataLog, Supplier<Uuid> ids, ExecutorService thread) {
        this.replica = replica;
        this.metadataLog = metadataLog;
        this.ids = ids;
        this.thread = thread;
    }

    /**
     * In its terms, fences brokers that are not heard from. Called before {@link #start}, for a broker of a cluster.
     *
     * @param nowMs a clock that never goes back
     * @param timeoutMs a broker is fenced if it is not heard from for this time
     * @param intervalMs time between heartbeats
     */
    public void watchBrokers(LongSupplier nowMs, long timeoutMs, long intervalMs) {
        liveness = new BrokerLiveness(
                nowMs,
                timeoutMs,
                intervalMs,
                decide -> submit(
                        draft -> draft.add(new Step(decide.apply(draft.decider.cluster()), null), false),
                        Controller::failed));
    }

    /** Time passes. Called every {@link #TICK_MS} milliseconds. */
    public void tick() {
        onBrokers(watch -> watch.onTick(replica.image()));
    }

    /** The connection over which a broker has sent heartbeats has ended. */
    public void onReset(int nodeId) {
        onBrokers(watch -> watch.onReset(nodeId));
    }

    /** Nothing is done if this broker does not decide. */
    private void onBrokers(Consumer<BrokerLiveness> work) {
        if (role == Role.LEADING && liveness != null) {
            try {
                thread.execute(() -> {
                    synchronized (this) {
                        if (role == Role.LEADING) {
                            work.accept(liveness);
                        }
                    }
                });
            } catch (RejectedExecutionException closed) {
                log.debug("the controller is closed", closed);
            }
        }
    }

    @Override
    public CompletableFuture<BrokerHeartbeat.Response> heartbeat(BrokerHeartbeat heartbeat) {
        CompletableFuture<BrokerHeartbeat.Response> result = new CompletableFuture<>();
        try {
            thread.execute(() -> accept(heartbeat, result));
        } catch (RejectedExecutionException closed) {
            result.completeExceptionally(new NotControllerException("the controller is closed"));
        }
        return result;
    }

    private synchronized void accept(BrokerHeartbeat heartbeat, CompletableFuture<BrokerHeartbeat.Response> result) {
        if (role != Role.LEADING || liveness == null) {
            result.completeExceptionally(new NotControllerException(metadataLog.members()));
            return;
        }
        var unused = liveness.onHeartbeat(heartbeat, replica.image()).whenComplete((response, failure) -> {
            if (failure == null) {
                result.complete(response);
            } else {
                result.completeExceptionally(failure instanceof CompletionException ? failure.getCause() : failure);
            }
        });
    }

    /** Creates the thread of a controller. */
    public static ExecutorService newThread() {
        return Executors.newSingleThreadExecutor(work -> new Thread(work, "journalq-controller"));
    }

    /**
     * Opens the log. A broker that is alone also assigns an id to a new cluster, and starts the next leader epochs of the
     * partitions. In a quorum, the controller decides whenever the quorum has elected this broker.
     *
     * @param check receives the cluster's id after the replay, before anything is written
     * @return completed when the first image is published; fails with an {@link IOException} if the log cannot be
     *     written
     * @throws IOException if the log cannot be read, or has records that this release does not know, or if the check
     *     fails
     */
    public CompletableFuture<Void> start(ClusterCheck check) throws IOException {
        metadataLog.onRole(this::onRole);
        metadataLog.open(replica);
        MetadataImage image = replica.image();
        check.accept(image.clusterId());
        checked = true;
        if (metadataLog.electsLeader()) {
            onRole(reported);
            return replica.published();
        }
        checkNotOfQuorum(image);
        role = reported;
        MetadataMachine decider = replica.newDecider(image);
        Decision first = decider.isFormatted() ? decider.startNode() : decider.format(ids.get());
        if (first.records().isEmpty()) {
            return replica.published();
        }
        return metadataLog
                .propose(new MetadataBatch(image.version(), first.records()))
                .thenCompose(applied -> replica.published());
    }

    /**
     * Checks that the metadata in the log of a single broker is not what remains of a quorum's.
     *
     * @throws IOException if it is; the message is one line that says what to do
     */
    public static void checkNotOfQuorum(MetadataImage image) throws IOException {
        if (image.controller().isElected()) {
            throw new IOException("the metadata is that of a metadata quorum, and the directory "
                    + QuorumProvider.DIRECTORY + " of the first data directory is missing; restore all data"
                    + " directories from a backup");
        }
    }

    private void onRole(Role now) {
        reported = now;
        if (!checked) {
            return;
        }
        if (now == Role.LEADING && metadataLog.electsLeader()) {
            beginTermSoon();
            return;
        }
        role = now;
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
        role = Role.LEADING;
        if (reported != Role.LEADING) {
            // It has changed in the meantime.
            role = reported;
            return;
        }
        int elected = metadataLog.members().term();
        term = elected;
        if (liveness != null) {
            liveness.begin(replica.image());
        }
        Operation<Void> first = new Operation<>(draft -> null, Controller::failed);
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

    /** May reject the metadata of a cluster at the start. */
    @FunctionalInterface
    public interface ClusterCheck {
        /**
         * Returns if the metadata may be used.
         *
         * @param clusterId empty if the log is new
         * @throws IOException if it may not be used; the message is one line that says what to do
         */
        void accept(String clusterId) throws IOException;
    }

    @Override
    public CompletableFuture<List<Outcome>> createTopics(List<TopicSpec> specs, boolean validateOnly) {
        return forEach(specs, validateOnly, (decider, spec) -> {
            Uuid id = ids.get();
            return new Step(decider.createTopic(spec, id), id);
        });
    }

    /** Deletes topics; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> deleteTopics(List<Uuid> topicIds) {
        return forEach(topicIds, false, (decider, id) -> new Step(decider.deleteTopic(id), id));
    }

    /** Adds partitions to topics; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> createPartitions(List<PartitionsSpec> specs, boolean validateOnly) {
        return forEach(
                specs,
                validateOnly,
                (decider, spec) ->
                        new Step(decider.createPartitions(spec.topic(), spec.newCount(), spec.assignments()), null));
    }

    /** Changes the configurations of topics; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterTopicConfigs(List<ConfigChange> changes, boolean validateOnly) {
        return forEach(
                changes,
                validateOnly,
                (decider, change) -> new Step(
                        decider.alterTopicConfig(
                                change.topic(), change.changes().apply(decider.image())),
                        null));
    }

    /** Changes the configurations of resources other than topics; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterResourceConfigs(List<ResourceChange> changes, boolean validateOnly) {
        return forEach(
                changes,
                validateOnly,
                (decider, change) -> new Step(
                        decider.alterResourceConfig(
                                change.resource(), change.changes().apply(decider.image())),
                        null));
    }

    /** Changes quotas of clients; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterQuotas(List<QuotaChange> changes, boolean validateOnly) {
        return forEach(
                changes,
                validateOnly,
                (decider, change) -> new Step(decider.alterQuotas(change.entity(), change.changes()), null));
    }

    /** Changes credentials of users; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterScram(List<ScramChange> changes) {
        return forEach(
                changes,
                false,
                (decider, change) -> new Step(decider.alterScram(change.user(), change.set(), change.removed()), null));
    }

    /** Makes any live replica lead, see {@link io.journalq.server.metadata.ClusterDecider#electUncleanLeader}. */
    public CompletableFuture<List<Outcome>> electUncleanLeaders(List<TopicPartition> partitions) {
        return forEach(
                partitions,
                false,
                (decider, partition) ->
                        new Step(decider.cluster().electUncleanLeader(partition.topic(), partition.partition()), null));
    }

    /** Gives partitions to their preferred leaders; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> electPreferredLeaders(List<TopicPartition> partitions) {
        return forEach(
                partitions,
                false,
                (decider, partition) -> new Step(
                        decider.cluster().electPreferredLeader(partition.topic(), partition.partition()), null));
    }

    /** Adds ACLs; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> createAcls(List<Acl> acls) {
        return forEach(acls, false, (decider, acl) -> new Step(decider.createAcl(acl), null));
    }

    /**
     * Removes the ACLs that filters select.
     *
     * @return for each filter, in order, what it has removed. Fails if the log cannot be written
     */
    public CompletableFuture<List<List<Acl>>> deleteAcls(List<AclFilter> filters) {
        if (filters.isEmpty()) {
            return CompletableFuture.completedFuture(List.of());
        }
        return submit(
                draft -> {
                    List<List<Acl>> removed = new ArrayList<>(filters.size());
                    for (AclFilter filter : filters) {
                        List<Acl> selected = draft.decider.image().acls().select(filter);
                        draft.add(new Step(draft.decider.removeAcls(selected), null), false);
                        removed.add(selected);
                    }
                    return removed;
                },
                Controller::failed);
    }

    @Override
    public CompletableFuture<Outcome> registerBroker(BrokerRegistration registration, long previousEpoch) {
        return submit(
                draft -> draft.add(new Step(draft.decider.registerBroker(registration, previousEpoch), null), false),
                Controller::failed);
    }

    @Override
    public CompletableFuture<List<PartitionOutcome>> alterPartitions(
            int nodeId, long brokerEpoch, List<InSyncProposal> proposals) {
        return submit(
                draft -> {
                    List<PartitionOutcome> outcomes = new ArrayList<>(proposals.size());
                    for (InSyncProposal proposal : proposals) {
                        Decision decision = draft.decider.cluster().alterPartition(nodeId, brokerEpoch, proposal);
                        Outcome outcome = draft.add(new Step(decision, proposal.topicId()), false);
                        outcomes.add(
                                outcome.error() == ErrorCode.NONE
                                        ? PartitionOutcome.of(
                                                nodeId,
                                                draft.decider.image().topic(proposal.topicId()),
                                                proposal.partition())
                                        : PartitionOutcome.refused(outcome.error()));
                    }
                    return outcomes;
                },
                Controller::failed);
    }

    /**
     * Adds a broker to the voters of the quorum. It must be running, and is added when it has caught up.
     *
     * @return fails if the outcome is not known
     */
    public CompletableFuture<Outcome> addVoter(QuorumVoter voter) {
        if (role != Role.LEADING) {
            return CompletableFuture.failedFuture(new NotControllerException(metadataLog.members()));
        }
        return metadataLog.addVoter(voter).handle((added, failure) -> {
            Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
            return cause == null
                    ? new Outcome(ErrorCode.NONE, null, null)
                    : cause instanceof IllegalArgumentException
                            ? new Outcome(ErrorCode.DUPLICATE_VOTER, cause.getMessage(), null)
                            : new Outcome(ErrorCode.NOT_CONTROLLER, cause.getMessage(), null);
        });
    }

    @Override
    public CompletableFuture<Long> allocateProducerIds(int count) {
        return submit(
                draft -> {
                    long first = draft.decider.nextProducerId();
                    draft.add(new Step(draft.decider.allocateProducerIds(count), null), false);
                    return first;
                },
                Controller::failed);
    }

    private static <T> T failed(T uncommitted) {
        throw new UncheckedIOException(new IOException("cannot write the metadata log"));
    }

    /** The brokers that vote on the metadata log. Any thread. */
    public MetadataLog.Members members() {
        return metadataLog.members();
    }

    /** Rejects all changes until a restart, because the log's files cannot be relied on. Any thread. */
    public void refuseChanges(IOException reason) {
        metadataLog.fence(reason);
    }

    /**
     * Finishes the operations in progress, rejects others and closes the log. The futures of operations whose images
     * are not published yet complete with {@link MetadataPublisher#published}.
     */
    @Override
    public void close() throws IOException {
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

    /**
     * A request for more partitions of a topic.
     *
     * @param newCount the new number of partitions
     * @param assignments nodes of each new partition; empty for the broker's choice
     */
    public record PartitionsSpec(String topic, int newCount, List<List<Integer>> assignments) {}

    /**
     * A change of a topic's configuration.
     *
     * @param changes computes values by name, null to restore the default, from an image with all earlier changes; on
     *     the controller's thread
     */
    public record ConfigChange(String topic, Function<MetadataImage, Map<String, String>> changes) {}

    /**
     * A change of the configuration of a resource other than a topic.
     *
     * @param changes as in {@link ConfigChange}
     */
    public record ResourceChange(ResourceId resource, Function<MetadataImage, Map<String, String>> changes) {}

    /**
     * A change of a client's quotas.
     *
     * @param changes limits by key, null to remove a limit
     */
    public record QuotaChange(QuotaEntity entity, Map<String, Double> changes) {}

    /**
     * A change of the credentials of a user.
     *
     * @param set credentials that replace those of the same mechanisms
     * @param removed mechanisms whose credentials are removed
     */
    public record ScramChange(String user, List<ScramCredential> set, List<ScramMechanism> removed) {}

    /** A decision, and its topic if it is known. */
    private record Step(Decision decision, Uuid topicId) {}

    /** An operation from its submission to its result. */
    private static final class Operation<T> {
        private final Function<Draft, T> decide;
        private final UnaryOperator<T> onLogFailure;
        private final CompletableFuture<T> result = new CompletableFuture<>();

        /**
         * Creates an operation.
         *
         * @param decide adds decisions to a draft and returns the result for the case that they are committed
         * @param onLogFailure turns this result into the one for the case that they are not, or throws
         */
        Operation(Function<Draft, T> decide, UnaryOperator<T> onLogFailure) {
            this.decide = decide;
            this.onLogFailure = onLogFailure;
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
    private static final class Draft {
        private final MetadataMachine decider;
        private final List<Message> records = new ArrayList<>();

        Draft(MetadataMachine decider) {
            this.decider = decider;
        }

        Outcome add(Step step, boolean validateOnly) {
            Decision decision = step.decision();
            if (!decision.accepted()) {
                return new Outcome(decision.error(), decision.reason(), step.topicId());
            }
            if (!validateOnly) {
                records.addAll(decision.records());
                decider.replay(decision.records());
            }
            return new Outcome(ErrorCode.NONE, null, step.topicId());
        }
    }

    private <T> CompletableFuture<List<Outcome>> forEach(
            List<T> items, boolean validateOnly, BiFunction<MetadataMachine, T, Step> decide) {
        if (items.isEmpty()) {
            return CompletableFuture.completedFuture(List.of());
        }
        return submit(
                draft -> {
                    List<Outcome> outcomes = new ArrayList<>(items.size());
                    for (T item : items) {
                        outcomes.add(draft.add(decide.apply(draft.decider, item), validateOnly));
                    }
                    return outcomes;
                },
                outcomes -> {
                    outcomes.replaceAll(outcome -> outcome.error() == ErrorCode.NONE ? logFailure() : outcome);
                    return outcomes;
                });
    }

    private <T> CompletableFuture<T> submit(Function<Draft, T> decide, UnaryOperator<T> onLogFailure) {
        if (operations.incrementAndGet() > MAX_OPERATIONS) {
            operations.decrementAndGet();
            return CompletableFuture.failedFuture(new RejectedExecutionException("too many operations are waiting"));
        }
        Operation<T> operation = new Operation<>(decide, onLogFailure);
        try {
            thread.execute(() -> accept(operation));
        } catch (RejectedExecutionException closed) {
            operations.decrementAndGet();
            return CompletableFuture.failedFuture(closed);
        }
        var unused = operation.result.whenComplete((result, failure) -> operations.decrementAndGet());
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
        Draft draft = new Draft(replica.newDecider(image));
        try {
            if (metadataLog.electsLeader()) {
                // Adds a record only if the term has none yet.
                draft.add(new Step(draft.decider.beginTerm(term), null), false);
            }
            T decided = operation.decide.apply(draft);
            if (draft.records.isEmpty() || now != Role.LEADING) {
                completeWhenPublished(operation, decided, now == Role.LEADING);
                return;
            }
            proposing = true;
            CompletableFuture<Void> proposal = metadataLog.propose(new MetadataBatch(image.version(), draft.records));
            if (proposal.isDone()) {
                onProposed(proposal, operation, decided);
            } else {
                var unused = proposal.whenComplete((applied, failure) -> onThread(() -> {
                    onProposed(proposal, operation, decided);
                    runDelayed();
                }));
            }
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
        var unused = replica.published().thenRun(() -> operation.complete(decided, committed));
    }

    /**
     * Runs {@code work} on the controller's thread, or on the current one if the controller is being closed. The lock
     * keeps it apart from operations that the thread still runs.
     */
    private void onThread(Runnable work) {
        Runnable guarded = () -> {
            synchronized (this) {
                work.run();
            }
        };
        try {
            thread.execute(guarded);
        } catch (RejectedExecutionException closed) {
            guarded.run();
        }
    }

    private static Outcome logFailure() {
        return new Outcome(ErrorCode.KAFKA_STORAGE_ERROR, "cannot write the metadata log; see the broker's log", null);
    }
}
