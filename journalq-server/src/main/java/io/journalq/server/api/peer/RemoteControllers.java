package io.journalq.server.api.peer;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AllocateProducerIdsRequest;
import io.journalq.common.protocol.message.AllocateProducerIdsResponse;
import io.journalq.common.protocol.message.AlterPartitionRequest;
import io.journalq.common.protocol.message.AlterPartitionResponse;
import io.journalq.common.protocol.message.AssignReplicasToDirsRequest;
import io.journalq.common.protocol.message.AssignReplicasToDirsResponse;
import io.journalq.common.protocol.message.BrokerHeartbeatRequest;
import io.journalq.common.protocol.message.BrokerHeartbeatResponse;
import io.journalq.common.protocol.message.BrokerRegistrationRequest;
import io.journalq.common.protocol.message.BrokerRegistrationResponse;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.BrokerHeartbeat;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.NotControllerException;
import io.journalq.server.control.Outcome;
import io.journalq.server.control.PartitionOutcome;
import io.journalq.server.control.PeerControllers;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.peer.PeerChannels;
import io.journalq.server.peer.PeerRequests;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** The controllers of the other brokers, by requests of the Kafka protocol. Any thread. */
public final class RemoteControllers implements PeerControllers {
    private static final int REGISTRATION_VERSION = 4;
    private static final int CREATE_TOPICS_VERSION = 7;
    private static final int HEARTBEAT_VERSION = 2;
    private static final int ALTER_PARTITION_VERSION = 3;
    private static final int ALLOCATION_VERSION = 0;
    private static final int ASSIGNMENT_VERSION = 0;
    private static final int TIMEOUT_MS = 10_000;
    /** A controller that responds later is frozen or cut off, and another one is being elected. */
    private static final int HEARTBEAT_TIMEOUT_MS = 1_000;

    private final Supplier<String> clusterId;
    private final int nodeId;
    private final IntFunction<ListenerAddress> addresses;
    private final PeerChannels channels;
    private final PeerRequests creations;

    /**
     * Creates an instance.
     *
     * @param nodeId this broker
     * @param addresses of the listeners of the brokers for each other; null if unknown
     * @param creations for the creation of topics only: the controller opens their partitions before it responds, and
     *     must not keep back its responses to heartbeats until then
     */
    public RemoteControllers(
            Supplier<String> clusterId,
            int nodeId,
            IntFunction<ListenerAddress> addresses,
            PeerChannels channels,
            PeerRequests creations) {
        this.clusterId = clusterId;
        this.nodeId = nodeId;
        this.addresses = addresses;
        this.channels = channels;
        this.creations = creations;
    }

    @Override
    public void offer(ControllerOperations local) {
        // The handlers of this package call the controller.
    }

    @Override
    public ControllerOperations of(int node) {
        ListenerAddress address = addresses.apply(node);
        return address == null ? null : new Remote(node, address);
    }

    /** The controller of a broker. */
    private final class Remote implements ControllerOperations {
        private final int node;
        private final ListenerAddress address;

        Remote(int node, ListenerAddress address) {
            this.node = node;
            this.address = address;
        }

        @Override
        public CompletableFuture<Outcome> registerBroker(BrokerRegistration registration, long previousEpoch) {
            return ask(request(registration).setPreviousBrokerEpoch(previousEpoch), REGISTRATION_VERSION)
                    .thenApply(response -> {
                        ErrorCode error = ErrorCode.of(((BrokerRegistrationResponse) response).errorCode());
                        return new Outcome(checked(error), problem(error, registration), null);
                    });
        }

        @Override
        public CompletableFuture<ErrorCode> loseRecords(
                int loser, long brokerEpoch, Map<Uuid, List<Integer>> partitions) {
            AssignReplicasToDirsRequest request = new AssignReplicasToDirsRequest()
                    .setBrokerId(loser)
                    .setBrokerEpoch(brokerEpoch)
                    .setDirectories(List.of(AssignReplicasToDirsHandler.lost(partitions)));
            return ask(request, ASSIGNMENT_VERSION)
                    .thenApply(
                            response -> checked(ErrorCode.of(((AssignReplicasToDirsResponse) response).errorCode())));
        }

        @Override
        public CompletableFuture<BrokerHeartbeat.Response> heartbeat(BrokerHeartbeat heartbeat) {
            BrokerHeartbeatRequest request = new BrokerHeartbeatRequest()
                    .setBrokerId(heartbeat.nodeId())
                    .setBrokerEpoch(heartbeat.brokerEpoch())
                    .setCurrentMetadataOffset(heartbeat.metadataOffset())
                    .setWantFence(heartbeat.wantsFence())
                    .setWantShutDown(heartbeat.wantsShutdown())
                    .setCordonedLogDirs(heartbeat.full());
            return ask(request, HEARTBEAT_VERSION, HEARTBEAT_TIMEOUT_MS).thenApply(message -> {
                BrokerHeartbeatResponse response = (BrokerHeartbeatResponse) message;
                return new BrokerHeartbeat.Response(
                        checked(ErrorCode.of(response.errorCode())),
                        response.isCaughtUp(),
                        response.isFenced(),
                        response.shouldShutDown());
            });
        }

        @Override
        public CompletableFuture<List<PartitionOutcome>> alterPartitions(
                int proposer, long brokerEpoch, List<InSyncProposal> proposals) {
            AlterPartitionRequest request = new AlterPartitionRequest()
                    .setBrokerId(proposer)
                    .setBrokerEpoch(brokerEpoch)
                    .setTopics(proposals.stream().map(Remote::altered).toList());
            return ask(request, ALTER_PARTITION_VERSION).thenApply(message -> {
                AlterPartitionResponse response = (AlterPartitionResponse) message;
                ErrorCode error = checked(ErrorCode.of(response.errorCode()));
                if (error != ErrorCode.NONE) {
                    return Collections.nCopies(proposals.size(), PartitionOutcome.refused(error));
                }
                List<PartitionOutcome> outcomes = response.topics().stream()
                        .map(topic -> outcome(topic.partitions().get(0)))
                        .toList();
                if (outcomes.size() != proposals.size()) {
                    throw new IllegalStateException("the controller has not seen every proposal");
                }
                return outcomes;
            });
        }

        private static AlterPartitionRequest.TopicData altered(InSyncProposal proposal) {
            return new AlterPartitionRequest.TopicData()
                    .setTopicId(proposal.topicId())
                    .setPartitions(List.of(new AlterPartitionRequest.PartitionData()
                            .setPartitionIndex(proposal.partition())
                            .setLeaderEpoch(proposal.leaderEpoch())
                            .setPartitionEpoch(proposal.partitionEpoch())
                            .setNewIsrWithEpochs(proposal.inSyncReplicas().stream()
                                    .map(member -> new AlterPartitionRequest.BrokerState()
                                            .setBrokerId(member.nodeId())
                                            .setBrokerEpoch(member.brokerEpoch()))
                                    .toList())));
        }

        private static PartitionOutcome outcome(AlterPartitionResponse.PartitionData partition) {
            return new PartitionOutcome(
                    ErrorCode.of(partition.errorCode()),
                    partition.leaderId(),
                    partition.leaderEpoch(),
                    partition.partitionEpoch(),
                    partition.isr());
        }

        @Override
        public CompletableFuture<List<Outcome>> createTopics(List<TopicSpec> specs, boolean validateOnly) {
            CreateTopicsRequest request = new CreateTopicsRequest()
                    .setTimeoutMs(TIMEOUT_MS)
                    .setValidateOnly(validateOnly)
                    .setTopics(specs.stream().map(Remote::creatable).toList());
            return orNotController(creations.send(node, request, CREATE_TOPICS_VERSION, TIMEOUT_MS))
                    .thenApply(response -> outcomes(specs, (CreateTopicsResponse) response));
        }

        /** The response names each topic once, in an order of its own. */
        private List<Outcome> outcomes(List<TopicSpec> specs, CreateTopicsResponse response) {
            Map<String, Outcome> byName = new HashMap<>();
            for (CreateTopicsResponse.CreatableTopicResult topic : response.topics()) {
                byName.put(
                        topic.name(),
                        new Outcome(checked(ErrorCode.of(topic.errorCode())), topic.errorMessage(), topic.topicId()));
            }
            List<Outcome> outcomes = new ArrayList<>(specs.size());
            for (TopicSpec spec : specs) {
                Outcome outcome = byName.get(spec.name());
                if (outcome == null) {
                    throw new IllegalStateException("the controller has not seen every topic");
                }
                outcomes.add(outcome);
            }
            return outcomes;
        }

        @Override
        public CompletableFuture<Long> allocateProducerIds(int count) {
            AllocateProducerIdsRequest request = new AllocateProducerIdsRequest().setBrokerId(nodeId);
            return ask(request, ALLOCATION_VERSION).thenApply(message -> {
                AllocateProducerIdsResponse response = (AllocateProducerIdsResponse) message;
                ErrorCode error = checked(ErrorCode.of(response.errorCode()));
                if (error != ErrorCode.NONE || response.producerIdLen() != count) {
                    throw new IllegalStateException("the controller allocates no producer ids: " + error);
                }
                return response.producerIdStart();
            });
        }

        private CompletableFuture<ApiMessage> ask(ApiMessage request, int version) {
            return ask(request, version, TIMEOUT_MS);
        }

        private CompletableFuture<ApiMessage> ask(ApiMessage request, int version, int timeoutMs) {
            return orNotController(channels.send(address.host(), address.port(), request, version, timeoutMs));
        }

        private static CompletableFuture<ApiMessage> orNotController(CompletableFuture<ApiMessage> response) {
            return response.exceptionally(failure -> {
                throw new CompletionException(new NotControllerException(failure.getMessage()));
            });
        }

        /** Another broker may be the controller now. */
        private ErrorCode checked(ErrorCode error) {
            if (error == ErrorCode.NOT_CONTROLLER || error == ErrorCode.REQUEST_TIMED_OUT) {
                throw new CompletionException(new NotControllerException(
                        "the broker at " + address.address() + " is not the controller of the cluster"));
            }
            return error;
        }

        private BrokerRegistrationRequest request(BrokerRegistration registration) {
            return new BrokerRegistrationRequest()
                    .setBrokerId(registration.nodeId())
                    .setClusterId(clusterId.get())
                    .setIncarnationId(registration.incarnationId())
                    .setRack(registration.rack())
                    .setLogDirs(registration.logDirectories())
                    .setListeners(registration.listeners().stream()
                            .map(listener -> new BrokerRegistrationRequest.Listener()
                                    .setName(listener.name())
                                    .setHost(listener.host())
                                    .setPort(listener.port()))
                            .toList())
                    .setFeatures(registration.features().stream()
                            .map(feature -> new BrokerRegistrationRequest.Feature()
                                    .setName(feature.name())
                                    .setMinSupportedVersion(feature.lowest())
                                    .setMaxSupportedVersion(feature.highest()))
                            .toList());
        }

        private String problem(ErrorCode error, BrokerRegistration registration) {
            return switch (error) {
                case NONE -> null;
                case DUPLICATE_BROKER_REGISTRATION ->
                    "node id " + registration.nodeId() + " belongs to another broker of the cluster; choose another"
                            + " node.id";
                case INCONSISTENT_CLUSTER_ID ->
                    "the broker at " + address.address() + " belongs to another cluster than " + clusterId.get();
                default -> "the controller at " + address.address() + " refuses the registration: " + error;
            };
        }

        private static CreateTopicsRequest.CreatableTopic creatable(TopicSpec spec) {
            return new CreateTopicsRequest.CreatableTopic()
                    .setName(spec.name())
                    .setNumPartitions(spec.partitions())
                    .setReplicationFactor((short) spec.replicationFactor())
                    .setConfigs(spec.configs().entrySet().stream()
                            .map(config -> new CreateTopicsRequest.CreatableTopicConfig()
                                    .setName(config.getKey())
                                    .setValue(config.getValue()))
                            .toList());
        }
    }
}
