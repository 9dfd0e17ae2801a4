package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AddRaftVoterRequest;
import io.journalq.common.protocol.message.AddRaftVoterResponse;
import io.journalq.common.protocol.message.DescribeClusterRequest;
import io.journalq.common.protocol.message.DescribeClusterResponse;
import io.journalq.common.protocol.message.DescribeClusterResponse.DescribeClusterBroker;
import io.journalq.common.protocol.message.DescribeQuorumRequest;
import io.journalq.common.protocol.message.DescribeQuorumResponse;
import io.journalq.common.protocol.message.DescribeQuorumResponse.ReplicaState;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.QuorumVoter;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.peer.PeerChannels;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the cluster of a broker that has no data yet, and asks its controller to let the broker vote. Used by the thread
 * that opens the broker.
 */
final class ClusterJoin {
    private static final Logger log = LoggerFactory.getLogger(ClusterJoin.class);

    private static final int DESCRIBE_VERSION = 1;
    private static final int ADD_VERSION = 0;
    private static final int DESCRIBE_QUORUM_VERSION = 2;
    private static final String METADATA_TOPIC = "__cluster_metadata";
    private static final int SEED_TIMEOUT_MS = 5_000;
    /** A new voter is added when it has the metadata. */
    private static final int ADD_TIMEOUT_MS = 60_000;

    private static final int PAUSE_MS = 500;
    private static final long LOG_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final int NO_CONTROLLER = -1;

    private final List<ListenerAddress> seeds;
    private final PeerChannels channels;
    private final FutureWaiter waiting;

    /** @param seeds addresses of the listeners of brokers for each other */
    ClusterJoin(List<ListenerAddress> seeds, PeerChannels channels, FutureWaiter waiting) {
        this.seeds = seeds;
        this.channels = channels;
        this.waiting = waiting;
    }

    /**
     * Checks that no other broker with this node id is running, and returns the id of the cluster that the seeds belong
     * to.
     *
     * @param self the address of this broker for other brokers
     * @throws IOException if no seed responds, the seeds have no quorum, or another broker has the node id; the message is
     *     one line
     */
    Uuid clusterId(int nodeId, ListenerAddress self) throws IOException {
        Uuid clusterId = check(describe(), nodeId, self);
        for (ReplicaState voter : voters()) {
            if (voter.replicaDirectoryId().equals(Uuid.ZERO)) {
                throw new IOException("broker " + voter.replicaId() + " in cluster.join has no metadata quorum; set"
                        + " quorum.listener on it, and restart it");
            }
        }
        return clusterId;
    }

    /** Whether this broker votes; true if no seed knows that. */
    boolean votes(QuorumVoter self) {
        List<ReplicaState> voters = voters();
        return voters.isEmpty()
                || voters.stream()
                        .anyMatch(voter -> voter.replicaId() == self.nodeId()
                                && voter.replicaDirectoryId().equals(self.directoryId()));
    }

    /** The voters of the quorum; none if no seed knows them. */
    private List<ReplicaState> voters() {
        DescribeQuorumRequest request = new DescribeQuorumRequest()
                .setTopics(List.of(new DescribeQuorumRequest.TopicData()
                        .setTopicName(METADATA_TOPIC)
                        .setPartitions(List.of(new DescribeQuorumRequest.PartitionData()))));
        for (ListenerAddress seed : seeds) {
            try {
                DescribeQuorumResponse response = (DescribeQuorumResponse)
                        ask(seed.host(), seed.port(), request, DESCRIBE_QUORUM_VERSION, SEED_TIMEOUT_MS);
                for (DescribeQuorumResponse.TopicData topic : response.topics()) {
                    for (DescribeQuorumResponse.PartitionData partition : topic.partitions()) {
                        if (partition.errorCode() == ErrorCode.NONE.code()) {
                            return partition.currentVoters();
                        }
                    }
                }
            } catch (IOException unreachable) {
                log.debug("cannot ask for the voters: seed={}", seed.address(), unreachable);
            }
        }
        return List.of();
    }

    /** As {@link #clusterId}; empty if no seed responds. */
    Optional<Uuid> clusterIdIfKnown(int nodeId, ListenerAddress self) throws IOException {
        DescribeClusterResponse cluster;
        try {
            cluster = describe();
        } catch (IOException unreachable) {
            log.info("cannot compare this broker with those in cluster.join: reason=\"{}\"", unreachable.getMessage());
            return Optional.empty();
        }
        return Optional.of(check(cluster, nodeId, self));
    }

    private Uuid check(DescribeClusterResponse cluster, int nodeId, ListenerAddress self) throws IOException {
        checkNotRunning(cluster, nodeId, self);
        String id = cluster.clusterId();
        try {
            return Uuid.parse(id);
        } catch (IllegalArgumentException foreign) {
            throw new IOException(
                    "the brokers in cluster.join belong to cluster '" + id + "', which is no cluster of" + " JournalQ");
        }
    }

    /** A copy of the data directory of a broker has its node id, and votes in its name. */
    private void checkNotRunning(DescribeClusterResponse cluster, int nodeId, ListenerAddress self) throws IOException {
        for (DescribeClusterBroker broker : cluster.brokers()) {
            boolean here = broker.host().equals(self.host()) && broker.port() == self.port();
            if (broker.brokerId() == nodeId && !here && isRunning(broker)) {
                throw new IOException("node id " + nodeId + " belongs to the broker at " + broker.host() + ":"
                        + broker.port() + ", which is running; choose another node.id, and never start a copy of a data"
                        + " directory");
            }
        }
    }

    private boolean isRunning(DescribeClusterBroker broker) {
        try {
            ask(broker.host(), broker.port(), new DescribeClusterRequest(), DESCRIBE_VERSION, SEED_TIMEOUT_MS);
            return true;
        } catch (IOException unreachable) {
            return false;
        }
    }

    private DescribeClusterResponse describe() throws IOException {
        List<String> failures = new ArrayList<>();
        for (ListenerAddress seed : seeds) {
            try {
                DescribeClusterResponse response = (DescribeClusterResponse)
                        ask(seed.host(), seed.port(), new DescribeClusterRequest(), DESCRIBE_VERSION, SEED_TIMEOUT_MS);
                if (response.errorCode() == ErrorCode.NONE.code()
                        && !response.clusterId().isEmpty()) {
                    return response;
                }
                failures.add(seed.address() + ": " + ErrorCode.of(response.errorCode()));
            } catch (IOException unreachable) {
                failures.add(seed.address() + ": " + unreachable.getMessage());
            }
        }
        throw new IOException("no broker in cluster.join responds (" + String.join("; ", failures) + "); start one of"
                + " them, or correct cluster.join");
    }

    private ApiMessage ask(String host, int port, ApiMessage request, int version, int timeoutMs) throws IOException {
        try {
            return waiting.join(channels.send(host, port, request, version, timeoutMs));
        } catch (CompletionException failure) {
            throw failure.getCause() instanceof IOException unreachable
                    ? unreachable
                    : new IOException(failure.getCause().getMessage(), failure.getCause());
        }
    }

    /**
     * Asks the controller to add this broker to the voters of the quorum, until it has done so or refuses.
     *
     * @param voter this broker
     * @throws IOException if the controller refuses, or cannot be reached for too long; the message is one line
     */
    void addVoter(QuorumVoter voter, Uuid clusterId) throws IOException {
        AddRaftVoterRequest request = new AddRaftVoterRequest()
                .setClusterId(clusterId.toString())
                .setTimeoutMs(ADD_TIMEOUT_MS)
                .setVoterId(voter.nodeId())
                .setVoterDirectoryId(voter.directoryId())
                .setListeners(List.of(new AddRaftVoterRequest.Listener()
                        .setName("QUORUM")
                        .setHost(voter.host())
                        .setPort(voter.port())));
        long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ADD_TIMEOUT_MS);
        long nextLogNanos = System.nanoTime();
        String reason = "";
        while (System.nanoTime() < deadlineNanos) {
            AddRaftVoterResponse response = null;
            try {
                response = askController(request);
                reason = response == null ? "the cluster has no controller" : response.errorMessage();
            } catch (IOException unreachable) {
                reason = unreachable.getMessage();
            }
            if (response != null && response.errorCode() == ErrorCode.NONE.code()) {
                return;
            }
            if (response != null && !isTemporary(ErrorCode.of(response.errorCode()))) {
                throw new IOException("the cluster refuses this broker: " + reason);
            }
            if (System.nanoTime() - nextLogNanos >= 0) {
                log.info("waiting to join the cluster: cluster={} reason=\"{}\"", clusterId, reason);
                nextLogNanos = System.nanoTime() + LOG_INTERVAL_NANOS;
            }
            pause();
        }
        throw new IOException("the cluster did not add this broker within " + ADD_TIMEOUT_MS / 1_000 + " s: " + reason);
    }

    private static boolean isTemporary(ErrorCode error) {
        return error == ErrorCode.NOT_CONTROLLER || error == ErrorCode.REQUEST_TIMED_OUT;
    }

    /** Null if there is no controller at the moment. */
    private AddRaftVoterResponse askController(AddRaftVoterRequest request) throws IOException {
        DescribeClusterResponse cluster = describe();
        for (DescribeClusterBroker broker : cluster.brokers()) {
            if (cluster.controllerId() != NO_CONTROLLER && broker.brokerId() == cluster.controllerId()) {
                return (AddRaftVoterResponse)
                        ask(broker.host(), broker.port(), request, ADD_VERSION, ADD_TIMEOUT_MS + SEED_TIMEOUT_MS);
            }
        }
        return null;
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while it joins a cluster");
        }
    }
}
