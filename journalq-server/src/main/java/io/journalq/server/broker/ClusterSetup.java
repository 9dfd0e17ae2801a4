package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.LocalCalls;
import io.journalq.server.api.peer.EnvelopeForwarder;
import io.journalq.server.api.peer.PeerGate;
import io.journalq.server.api.peer.RemoteControllers;
import io.journalq.server.api.peer.RemoteReplicaEnds;
import io.journalq.server.api.peer.RoutedCalls;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.config.ReplicationSettings;
import io.journalq.server.control.Controller;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.PeerControllers;
import io.journalq.server.control.ReplicaEnds;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.peer.PeerChannels;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.replication.IsrProposal;
import io.journalq.server.security.Principal;
import io.journalq.server.shard.replica.ReplicaPeers;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Creates what connects a broker with the others of its cluster. Immutable, any thread. */
final class ClusterSetup {
    private static final long NOT_REGISTERED = -1;

    private final BrokerConfig config;
    private final Supplier<MetadataImage> images;
    private final PeerChannels peers;
    private final LoopCycle cycle;
    private final int nodeId;

    /**
     * Creates nothing yet.
     *
     * @param images supplies the newest image
     * @param peers connections to other brokers; null for a broker that is alone
     * @param cycle of the loop on which responses of other brokers arrive
     */
    ClusterSetup(BrokerConfig config, Supplier<MetadataImage> images, PeerChannels peers, LoopCycle cycle) {
        this.config = config;
        this.images = images;
        this.peers = peers;
        this.cycle = cycle;
        this.nodeId = config.get(BrokerSettings.NODE_ID);
    }

    /** Whether this broker can have others beside it. Only then, {@link #forwarder} and {@link #replicaPeers} are needed. */
    boolean hasPeers() {
        return peers != null;
    }

    /**
     * How to join a cluster; null for a broker that joins none.
     *
     * @param waiting how a thread waits for a response
     */
    ClusterJoin join(FutureWaiter waiting) {
        return hasPeers() && !config.clusterJoin().isEmpty()
                ? new ClusterJoin(config.clusterJoin(), peers, waiting)
                : null;
    }

    /** The controllers of the other brokers. */
    PeerControllers remoteControllers() {
        return hasPeers()
                ? new RemoteControllers(() -> images.get().clusterId(), nodeId, this::addressOf, peers, requests())
                : PeerControllers.NONE;
    }

    /** The controller that is active, here or on another broker. */
    ControllerLink link(Controller controller, PeerControllers controllers) {
        controllers.offer(controller);
        return new ControllerLink(nodeId, controller, controller::members, controllers, cycle.loop());
    }

    /** Keeps this broker unfenced, in a cluster whose brokers elect the controller. */
    BrokerSupervisor supervisor(
            BrokerLifecycle lifecycle, MetadataPublisher metadata, ControllerOperations activeController) {
        return new BrokerSupervisor(
                lifecycle,
                metadata,
                activeController,
                cycle.loop(),
                config.get(ReplicationSettings.BROKER_HEARTBEAT_INTERVAL_MS));
    }

    /** Requests of one purpose to other brokers; null for a broker that is alone. */
    PeerRequests requests() {
        if (!hasPeers()) {
            return null;
        }
        return new PeerRequests(cycle, other -> {
            ListenerAddress address = addressOf(other);
            return address == null ? null : peers.open(address.host(), address.port(), cycle.loop());
        });
    }

    /** How far the replicas of all brokers are; null for a broker that is alone. */
    ReplicaEnds replicaEnds() {
        return hasPeers() ? new RemoteReplicaEnds(nodeId, requests()) : null;
    }

    /**
     * Lets requests of other brokers pass.
     *
     * @param brokers whether a client of the listener for brokers is one
     */
    PeerGate gate(Predicate<Principal> brokers) {
        return new PeerGate(config.interBrokerListenerName(), brokers);
    }

    /** Passes requests of clients on to the active controller. */
    EnvelopeForwarder forwarder(Controller controller) {
        return new EnvelopeForwarder(nodeId, controller::members, requests());
    }

    /**
     * Calls handlers at the brokers that can serve them.
     *
     * @param handlers those of this broker
     */
    LocalCalls localCalls(HandlerRegistry handlers) {
        return hasPeers()
                ? new RoutedCalls(nodeId, images, handlers, new RoutedCalls.Peers(requests(), requests(), requests()))
                : LocalCalls.here(handlers);
    }

    /** What replication needs of the other brokers. */
    ReplicaPeers replicaPeers(ControllerOperations activeController) {
        return new ReplicaPeers(
                nodeId,
                this::brokerEpoch,
                peers,
                this::addressOf,
                id -> images.get().stays(id),
                new GatheredProposals(nodeId, this::brokerEpoch, activeController, cycle.loop()),
                this::isNeverAccepted,
                config.get(ReplicationSettings.REPLICA_LAG_TIME_MAX_MS),
                config.get(ReplicationSettings.REPLICATION_LAG_MAX_MS));
    }

    /** Whether a partition is as it was before a proposal, which names an earlier life of a broker (KIP-903). */
    private boolean isNeverAccepted(Uuid topicId, int partition, IsrProposal proposal) {
        MetadataImage image = images.get();
        TopicImage topic = image.topic(topicId);
        return topic != null
                && topic.hasPartition(partition)
                && topic.partitions().get(partition).partitionEpoch() == proposal.partitionEpoch()
                && proposal.members().stream().anyMatch(member -> isGone(image.broker(member.brokerId()), member));
    }

    private static boolean isGone(BrokerImage now, IsrProposal.Member member) {
        return member.brokerEpoch() != IsrProposal.UNKNOWN_EPOCH && (now == null || now.epoch() > member.brokerEpoch());
    }

    /** The address of a broker for other brokers; null if it is not known. A fenced one can be the controller. */
    private ListenerAddress addressOf(int other) {
        BrokerImage broker = images.get().broker(other);
        return broker == null ? null : broker.listener(config.interBrokerListenerName());
    }

    /** Identifies the life of this broker. */
    private long brokerEpoch() {
        BrokerImage broker = images.get().broker(nodeId);
        return broker == null ? NOT_REGISTERED : broker.epoch();
    }
}
