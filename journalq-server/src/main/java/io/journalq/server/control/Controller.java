package io.journalq.server.control;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.control.OperationQueue.Step;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.Decision;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.PartitionDecider;
import io.journalq.server.metadata.QuotaEntity;
import io.journalq.server.metadata.ResourceId;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclFilter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Changes the metadata, and watches the brokers of a cluster. {@link OperationQueue} runs the operations, one at a time.
 * The future of an operation completes when the log has committed its records and the resulting image is published.
 *
 * <p>Any thread may call any method. A future fails if the controller is closed or already has
 * {@link OperationQueue#MAX_OPERATIONS} operations that are not complete.
 */
public final class Controller implements ControllerOperations, AutoCloseable {
    /** Time between two calls of {@link #tick}. */
    public static final int TICK_MS = 50;

    private final MetadataReplica replica;
    private final MetadataLog metadataLog;
    private final Supplier<Uuid> ids;
    private final OperationQueue operations;

    /** Null for a broker that is alone. */
    private BrokerLiveness liveness;

    /** Null for a broker that is alone. */
    private RecoveryElection recoveries;

    /** Null for a broker that is alone. */
    private ReassignmentCompletion reassignments;

    /** Null for a broker that is alone. */
    private ReassignmentRequests reassignmentRequests;

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
        this.operations = new OperationQueue(replica, metadataLog, thread);
    }

    /**
     * In its terms, fences brokers that are not heard from, recovers partitions whose replicas have all lost records, and
     * ends reassignments. Called before {@link #start}, for a broker of a cluster.
     *
     * @param nowMs a clock that never goes back
     * @param timeoutMs a broker is fenced if it is not heard from for this time
     * @param intervalMs time between heartbeats
     */
    public void watchBrokers(LongSupplier nowMs, long timeoutMs, long intervalMs, ReplicaEnds ends) {
        liveness = new BrokerLiveness(
                replica.nodeId(),
                nowMs,
                timeoutMs,
                intervalMs,
                decide -> change(decider -> decide.apply(decider.cluster())));
        Function<Function<PartitionDecider, Decision>, CompletableFuture<Outcome>> changes =
                decide -> change(decider -> decide.apply(decider.partitions()));
        recoveries = new RecoveryElection(nowMs, ends, changes, RecoveryElection.MAX_PARTITIONS);
        reassignments = new ReassignmentCompletion(nowMs, liveness::metadataOffset, changes);
        reassignmentRequests = new ReassignmentRequests(operations, liveness::metadataOffset, timeoutMs);
        operations.onTerm(() -> {
            liveness.begin(replica.image());
            reassignments.begin();
            reassignmentRequests.begin();
            var unused = change(decider -> decider.cluster().completeElections());
        });
    }

    private CompletableFuture<Outcome> change(Function<MetadataMachine, Decision> decide) {
        return operations.submitUnpublished(
                draft -> draft.add(new Step(decide.apply(draft.decider()), null), false), OperationQueue::failed);
    }

    /** Time passes. Called every {@link #TICK_MS} milliseconds. */
    public void tick() {
        onBrokers(watch -> {
            watch.onTick(replica.image());
            recoveries.onTick(replica.image());
            reassignments.onTick(replica.image());
        });
        if (reassignmentRequests != null) {
            reassignmentRequests.onTick();
        }
    }

    /**
     * Called while this broker serves and cannot reach the active controller. If that one belongs to a broker that still
     * starts, which may take minutes, this broker asks to be elected. Other brokers could not fail over before.
     */
    public void takeOver() {
        int leader = metadataLog.members().leaderId();
        BrokerImage starting = replica.image().broker(leader);
        if (leader != replica.nodeId() && starting != null && starting.fenced()) {
            metadataLog.takeOver();
        }
    }

    /** The connection over which a broker has sent heartbeats has ended. */
    public void onReset(int nodeId) {
        onBrokers(watch -> watch.onReset(nodeId));
    }

    /** Nothing is done if this broker does not decide. */
    private void onBrokers(Consumer<BrokerLiveness> work) {
        if (liveness != null) {
            operations.whileLeading(() -> work.accept(liveness));
        }
    }

    @Override
    public CompletableFuture<BrokerHeartbeat.Response> heartbeat(BrokerHeartbeat heartbeat) {
        CompletableFuture<BrokerHeartbeat.Response> result = new CompletableFuture<>();
        operations.execute(
                () -> {
                    if (liveness == null || !operations.leads()) {
                        result.completeExceptionally(new NotControllerException(metadataLog.members()));
                        return;
                    }
                    var unused = liveness.onHeartbeat(heartbeat, replica.image())
                            .whenComplete((response, failure) -> {
                                if (failure == null) {
                                    result.complete(response);
                                } else {
                                    result.completeExceptionally(
                                            failure instanceof CompletionException ? failure.getCause() : failure);
                                }
                            });
                },
                () -> result.completeExceptionally(new NotControllerException("the controller is closed")));
        return result;
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
        return operations.start(check, ids);
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
        return operations.forEach(specs, validateOnly, (decider, spec) -> {
            Uuid id = ids.get();
            Decision decision = decider.createTopic(spec, id);
            return validateOnly && decision.accepted()
                    ? new Step(decision, id, decider.created(decision).topic(id))
                    : new Step(decision, id);
        });
    }

    /** Deletes topics; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> deleteTopics(List<Uuid> topicIds) {
        return operations.forEach(topicIds, false, (decider, id) -> new Step(decider.deleteTopic(id), id));
    }

    /** Adds partitions to topics; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> createPartitions(List<PartitionsSpec> specs, boolean validateOnly) {
        return operations.forEach(
                specs,
                validateOnly,
                (decider, spec) ->
                        new Step(decider.createPartitions(spec.topic(), spec.newCount(), spec.assignments()), null));
    }

    /** Changes the configurations of topics; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterTopicConfigs(List<ConfigChange> changes, boolean validateOnly) {
        return operations.forEach(
                changes,
                validateOnly,
                (decider, change) -> new Step(
                        decider.alterTopicConfig(
                                change.topic(), change.changes().apply(decider.image())),
                        null));
    }

    /** Changes the configurations of resources other than topics; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterResourceConfigs(List<ResourceChange> changes, boolean validateOnly) {
        return operations.forEach(
                changes,
                validateOnly,
                (decider, change) -> new Step(
                        decider.alterResourceConfig(
                                change.resource(), change.changes().apply(decider.image())),
                        null));
    }

    /** Changes quotas of clients; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterQuotas(List<QuotaChange> changes, boolean validateOnly) {
        return operations.forEach(
                changes,
                validateOnly,
                (decider, change) -> new Step(decider.alterQuotas(change.entity(), change.changes()), null));
    }

    /** Changes credentials of users; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterScram(List<ScramChange> changes) {
        return operations.forEach(
                changes,
                false,
                (decider, change) -> new Step(decider.alterScram(change.user(), change.set(), change.removed()), null));
    }

    /** Makes any live replica lead, see {@link io.journalq.server.metadata.PartitionDecider#electUncleanLeader}. */
    public CompletableFuture<List<Outcome>> electUncleanLeaders(List<TopicPartition> partitions) {
        return operations.forEach(
                partitions,
                false,
                (decider, partition) -> new Step(
                        decider.partitions().electUncleanLeader(partition.topic(), partition.partition()), null));
    }

    /** Gives partitions to their preferred leaders; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> electPreferredLeaders(List<TopicPartition> partitions) {
        return operations.forEach(
                partitions,
                false,
                (decider, partition) -> new Step(
                        decider.partitions().electPreferredLeader(partition.topic(), partition.partition()), null));
    }

    /**
     * Moves partitions to other brokers, or cancels that; one outcome each, in order. In a cluster, this can wait for
     * heartbeats, see {@link ReassignmentRequests}.
     */
    public CompletableFuture<List<Outcome>> reassign(List<ReassignmentSpec> specs) {
        return reassignmentRequests == null
                ? operations.forEach(specs, false, ReassignmentRequests::decide)
                : reassignmentRequests.reassign(specs);
    }

    /**
     * The image with everything that was decided before, published or not. Fails with {@link NotControllerException} if
     * this broker does not decide.
     */
    public CompletableFuture<MetadataImage> newestImage() {
        // If the log of a broker in a quorum has failed, other brokers decide, and this one does not learn it.
        return operations
                .submitUnpublished(draft -> replica.image(), image -> inQuorum() ? null : image)
                .thenCompose(image -> image == null
                        ? CompletableFuture.failedFuture(new NotControllerException(metadataLog.members()))
                        : CompletableFuture.completedFuture(image));
    }

    /** Adds ACLs; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> createAcls(List<Acl> acls) {
        return operations.forEach(acls, false, (decider, acl) -> new Step(decider.createAcl(acl), null));
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
        return operations.submit(
                draft -> {
                    List<List<Acl>> removed = new ArrayList<>(filters.size());
                    Set<Acl> all = new LinkedHashSet<>();
                    for (AclFilter filter : filters) {
                        removed.add(draft.decider().image().acls().select(filter).stream()
                                .filter(all::add)
                                .toList());
                    }
                    draft.add(new Step(draft.decider().removeAcls(all), null), false);
                    return removed;
                },
                OperationQueue::failed);
    }

    @Override
    public CompletableFuture<Outcome> registerBroker(BrokerRegistration registration, long previousEpoch) {
        return operations.submit(
                draft -> draft.add(
                        new Step(draft.decider().registrations().register(registration, previousEpoch), null), false),
                OperationQueue::failed);
    }

    @Override
    public CompletableFuture<ErrorCode> loseRecords(int nodeId, long brokerEpoch, Map<Uuid, List<Integer>> partitions) {
        return operations
                .submitUnpublished(
                        draft -> draft.add(
                                new Step(draft.decider().cluster().loseRecords(nodeId, brokerEpoch, partitions), null),
                                false),
                        OperationQueue::failed)
                .thenApply(Outcome::error);
    }

    @Override
    public CompletableFuture<List<PartitionOutcome>> alterPartitions(
            int nodeId, long brokerEpoch, List<InSyncProposal> proposals) {
        return operations.submitUnpublished(
                draft -> {
                    List<PartitionOutcome> outcomes = new ArrayList<>(proposals.size());
                    for (InSyncProposal proposal : proposals) {
                        Decision decision = draft.decider().partitions().alterPartition(nodeId, brokerEpoch, proposal);
                        Outcome outcome = draft.add(new Step(decision, proposal.topicId()), false);
                        outcomes.add(
                                outcome.error() == ErrorCode.NONE
                                        ? PartitionOutcome.of(
                                                nodeId,
                                                draft.decider().image().topic(proposal.topicId()),
                                                proposal.partition())
                                        : PartitionOutcome.refused(outcome.error()));
                    }
                    return outcomes;
                },
                OperationQueue::failed);
    }

    /**
     * Adds a broker to the voters of the quorum. It must be running, and is added when it has caught up. If the broker
     * with its node id is fenced and had the same address, it replaces that one.
     *
     * @return fails if the outcome is not known
     */
    public CompletableFuture<Outcome> addVoter(QuorumVoter voter) {
        if (!operations.leads()) {
            return CompletableFuture.failedFuture(new NotControllerException(metadataLog.members()));
        }
        MetadataLog.Voters voters = metadataLog.voters();
        if (voters == null) {
            return noQuorum();
        }
        boolean replaces = replica.image().liveBroker(voter.nodeId()) == null;
        return voters.add(voter, replaces).handle((added, failure) -> votersChanged(failure));
    }

    private CompletableFuture<Outcome> noQuorum() {
        return refused(
                ErrorCode.INVALID_REQUEST,
                "broker " + metadataLog.members().leaderId() + " has no metadata quorum; set quorum.listener on it, and"
                        + " restart it");
    }

    private static CompletableFuture<Outcome> refused(ErrorCode error, String reason) {
        return CompletableFuture.completedFuture(new Outcome(error, reason, null));
    }

    /**
     * Removes a broker that does not run from the voters of the quorum. The metadata keep it and its replicas.
     *
     * @param directoryId the directory that holds its log
     * @return fails if the outcome is not known
     */
    public CompletableFuture<Outcome> removeVoter(int nodeId, Uuid directoryId) {
        MetadataLog.Voters voters = metadataLog.voters();
        if (operations.leads() && voters == null) {
            return noQuorum();
        }
        MetadataLog.QuorumState state = operations.leads() ? voters.state() : null;
        if (state == null) {
            return CompletableFuture.failedFuture(new NotControllerException(metadataLog.members()));
        }
        if (state.voters().stream()
                .noneMatch(
                        voter -> voter.nodeId() == nodeId && voter.directoryId().equals(directoryId))) {
            return refused(
                    ErrorCode.VOTER_NOT_FOUND,
                    "broker " + nodeId + " with the directory " + directoryId + " does not vote");
        }
        if (state.voters().size() == 1) {
            return refused(ErrorCode.INVALID_REQUEST, "broker " + nodeId + " is the only voter");
        }
        if (replica.image().liveBroker(nodeId) != null) {
            return refused(
                    ErrorCode.INVALID_REQUEST,
                    "broker " + nodeId
                            + " is running, and a broker that does not vote gets no metadata; stop it first");
        }
        return voters.remove(nodeId).handle((removed, failure) -> votersChanged(failure));
    }

    private static Outcome votersChanged(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        if (cause == null) {
            return new Outcome(ErrorCode.NONE, null, null);
        }
        if (cause instanceof IllegalArgumentException) {
            return new Outcome(ErrorCode.DUPLICATE_VOTER, cause.getMessage(), null);
        }
        return new Outcome(
                cause instanceof TimeoutException ? ErrorCode.REQUEST_TIMED_OUT : ErrorCode.NOT_CONTROLLER,
                cause.getMessage(),
                null);
    }

    /**
     * Removes a broker that does not run and has no replicas: first from the voters of the quorum, then from the
     * metadata. If that is interrupted in between, it can be repeated.
     */
    public CompletableFuture<Outcome> unregister(int nodeId) {
        if (!operations.leads()) {
            return CompletableFuture.failedFuture(new NotControllerException(metadataLog.members()));
        }
        return removeBroker(nodeId, true)
                .thenCompose(allowed -> allowed.error() != ErrorCode.NONE || metadataLog.voters() == null
                        ? CompletableFuture.completedFuture(allowed)
                        : metadataLog.voters().remove(nodeId).handle((removed, failure) -> votersChanged(failure)))
                .thenCompose(outcome -> outcome.error() == ErrorCode.NONE
                        ? removeBroker(nodeId, false)
                        : CompletableFuture.completedFuture(outcome));
    }

    private CompletableFuture<Outcome> removeBroker(int nodeId, boolean validateOnly) {
        return operations
                .forEach(
                        List.of(nodeId),
                        validateOnly,
                        (decider, id) -> new Step(decider.cluster().unregister(id), null))
                .thenApply(outcomes -> outcomes.get(0));
    }

    /** Whether brokers elect the controller. Any thread. */
    public boolean inQuorum() {
        return metadataLog.electsLeader();
    }

    /** How far the voters are; null if this broker does not lead a quorum. Any thread. */
    public MetadataLog.QuorumState quorumState() {
        MetadataLog.Voters voters = metadataLog.voters();
        return voters == null ? null : voters.state();
    }

    @Override
    public CompletableFuture<Long> allocateProducerIds(int count) {
        return operations.submitUnpublished(
                draft -> {
                    long first = draft.decider().nextProducerId();
                    draft.add(new Step(draft.decider().allocateProducerIds(count), null), false);
                    return first;
                },
                OperationQueue::failed);
    }

    /** Completed when the metadata of this broker stay as they are until a restart, because their log has failed. */
    public CompletableFuture<Void> whenFailed() {
        return operations.whenFailed();
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
        operations.close();
    }

    /**
     * A request to move a partition.
     *
     * @param target the brokers of the replicas in the end, the preferred leader first; null to cancel the reassignment
     *     in progress
     * @param changesFactor whether there may be more or fewer of them than now
     */
    public record ReassignmentSpec(TopicPartition partition, List<Integer> target, boolean changesFactor) {}

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
}
