package io.journalq.quorum;

import io.journalq.common.id.Uuid;
import io.journalq.server.control.MetadataLog.Members;
import io.journalq.server.control.MetadataLog.QuorumState;
import io.journalq.server.control.MetadataLog.VoterState;
import io.journalq.server.control.QuorumVoter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.exceptions.ReconfigurationTimeoutException;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.util.ProtoUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The voters of a quorum, how far they are, and how they change. A voter is a directory of a broker: a broker whose directory was emptied
 * comes back with another directory id, so it is another voter and cannot vote twice in a term. Any thread.
 */
public final class QuorumMembers {
    private static final Logger log = LoggerFactory.getLogger(QuorumMembers.class);

    /** Between the node id and the directory id in the id of a peer. Node ids are not negative. */
    private static final char SEPARATOR = '-';

    private static final int MAX_VOTERS = 7;

    private final RaftPeerId self;
    private final RaftGroupId group;
    private final QuorumRequests requests;

    QuorumMembers(QuorumConfig config, QuorumRequests requests) {
        this.self = peerId(config.self());
        this.group = groupId(config.clusterId());
        this.requests = requests;
    }

    static RaftGroupId groupId(Uuid clusterId) {
        return RaftGroupId.valueOf(new UUID(clusterId.mostSignificantBits(), clusterId.leastSignificantBits()));
    }

    static RaftGroup group(QuorumConfig config) {
        return RaftGroup.valueOf(
                groupId(config.clusterId()),
                config.founders().stream().map(QuorumMembers::peer).toList());
    }

    static RaftPeerId peerId(QuorumVoter voter) {
        return RaftPeerId.valueOf(voter.nodeId() + String.valueOf(SEPARATOR) + voter.directoryId());
    }

    static int nodeId(RaftPeerId peer) {
        String id = peer.toString();
        return Integer.parseInt(id.substring(0, id.indexOf(SEPARATOR)));
    }

    private static RaftPeer peer(QuorumVoter voter) {
        return RaftPeer.newBuilder()
                .setId(peerId(voter))
                .setAddress((voter.host().contains(":") ? "[" + voter.host() + "]" : voter.host()) + ":" + voter.port())
                .build();
    }

    static Uuid directoryId(RaftPeerId peer) {
        String id = peer.toString();
        return Uuid.parse(id.substring(id.indexOf(SEPARATOR) + 1));
    }

    /**
     * The voters, the leader and its term, as far as a server knows.
     *
     * @throws IOException if the server is closed
     */
    Members members(RaftServer server) throws IOException {
        RaftServer.Division division = server.getDivision(group);
        DivisionInfo info = division.getInfo();
        RaftPeerId leader = info.getLeaderId();
        return new Members(
                leader == null ? Members.NO_LEADER : nodeId(leader),
                (int) info.getCurrentTerm(),
                division.getRaftConf().getCurrentPeers().stream()
                        .map(peer -> nodeId(peer.getId()))
                        .toList());
    }

    /**
     * Whether this broker is a voter of the newest configuration in the log of a server, which may not be applied yet.
     * The server may be closed.
     */
    boolean namesThisVoter(RaftServer server) {
        try {
            return server.getDivision(group).getRaftConf().getCurrentPeers().stream()
                    .anyMatch(peer -> peer.getId().equals(self));
        } catch (IOException unknown) {
            log.debug("the voters of the metadata quorum are not known", unknown);
            return false;
        }
    }

    /**
     * How far the voters are; null if the server does not lead.
     *
     * @throws IOException if the server is closed
     */
    QuorumState state(RaftServer server) throws IOException {
        RaftServer.Division division = server.getDivision(group);
        DivisionInfo info = division.getInfo();
        if (!info.isLeader()) {
            return null;
        }
        // Both lists are in the order of the log appenders of the leader.
        List<ServerRpcProto> followers = info.getRoleInfoProto().getLeaderInfo().getFollowerInfoList();
        long[] matches = info.getFollowerMatchIndices();
        List<VoterState> voters = new ArrayList<>();
        for (RaftPeer peer : division.getRaftConf().getCurrentPeers()) {
            VoterState state = null;
            if (peer.getId().equals(self)) {
                state = voter(peer, division.getRaftLog().getNextIndex(), 0);
            }
            for (int i = 0; i < followers.size() && followers.size() == matches.length; i++) {
                ServerRpcProto follower = followers.get(i);
                if (follower.getId().getId().equals(peer.getId().toByteString())) {
                    state = voter(peer, matches[i] + 1, follower.getLastRpcElapsedTimeMs());
                }
            }
            voters.add(state == null ? voter(peer, -1, 0) : state);
        }
        return new QuorumState(division.getRaftLog().getLastCommittedIndex() + 1, voters);
    }

    /**
     * Lets a server ask for votes, although it has a leader. A leader that hands over asks for this in the same way, and
     * Ratis has no other call for it. Nothing happens if the server leads, or has no entry of the term.
     */
    void beginElection(RaftServer server) {
        try {
            RaftServer.Division division = server.getDivision(group);
            RaftPeerId leader = division.getInfo().getLeaderId();
            TermIndex last = division.getRaftLog().getLastEntryTermIndex();
            if (leader == null || leader.equals(self) || last == null) {
                return;
            }
            log.warn("asking for votes, because the broker of the leader does not serve yet: leader={}", leader);
            RaftRpcRequestProto request = RaftRpcRequestProto.newBuilder()
                    .setRequestorId(leader.toByteString())
                    .setReplyId(self.toByteString())
                    .setRaftGroupId(ProtoUtils.toRaftGroupIdProtoBuilder(group))
                    .setCallId(requests.nextCallId())
                    .build();
            server.startLeaderElection(StartLeaderElectionRequestProto.newBuilder()
                    .setServerRequest(request)
                    .setLeaderLastEntry(last.toProto())
                    .build());
        } catch (IOException failure) {
            log.warn("no election begins: reason=\"{}\"", failure.getMessage(), failure);
        }
    }

    private static VoterState voter(RaftPeer peer, long logEndOffset, long silentMs) {
        return new VoterState(nodeId(peer.getId()), directoryId(peer.getId()), logEndOffset, silentMs);
    }

    /**
     * Adds a voter, which must be running. Completes when it has caught up and votes. Fails if this broker does not
     * lead, or if another change is in progress.
     *
     * @param replaces whether it may take the place of the voter with the same node id, if that had the same address
     */
    CompletableFuture<Void> add(RaftServer server, QuorumVoter voter, boolean replaces) {
        RaftPeer added = peer(voter);
        return change(server, peers -> {
            if (peers.stream().anyMatch(peer -> peer.getId().equals(added.getId()))) {
                return;
            }
            for (RaftPeer peer : List.copyOf(peers)) {
                if (nodeId(peer.getId()) == voter.nodeId()) {
                    checkReplacement(peer, added, voter.nodeId(), replaces);
                    peers.remove(peer);
                }
            }
            if (peers.size() >= MAX_VOTERS) {
                throw new IllegalArgumentException(
                        "the cluster has " + MAX_VOTERS + " voters, and brokers that do not vote cannot join yet");
            }
            peers.add(added);
        });
    }

    private static void checkReplacement(RaftPeer old, RaftPeer added, int nodeId, boolean oldIsDown)
            throws TimeoutException {
        if (!old.getAddress().equals(added.getAddress())) {
            throw new IllegalArgumentException("node id " + nodeId
                    + " belongs to another voter of the cluster; choose another node.id, or replace that"
                    + " broker when it is down, with quorum.listener=" + old.getAddress());
        }
        if (!oldIsDown) {
            throw new TimeoutException("the broker with node id " + nodeId + " that had another data directory is not"
                    + " fenced yet, which takes broker.session.timeout.ms after it has stopped");
        }
    }

    /** Removes the voter of a node, if there is one. Completes when the others have committed that. Fails like {@link #add}. */
    CompletableFuture<Void> remove(RaftServer server, int nodeId) {
        return change(server, peers -> peers.removeIf(peer -> nodeId(peer.getId()) == nodeId));
    }

    /** Changes a list of peers. */
    private interface Change {
        void on(List<RaftPeer> peers) throws TimeoutException;
    }

    private CompletableFuture<Void> change(RaftServer server, Change change) {
        try {
            Collection<RaftPeer> now = server.getDivision(group).getRaftConf().getCurrentPeers();
            List<RaftPeer> next = new ArrayList<>(now);
            change.on(next);
            if (Set.copyOf(next).equals(Set.copyOf(now))
                    && server.getDivision(group).getInfo().isLeader()) {
                return CompletableFuture.completedFuture(null);
            }
            SetConfigurationRequest.Arguments arguments = SetConfigurationRequest.Arguments.newBuilder()
                    .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
                    .setServersInCurrentConf(List.copyOf(now))
                    .setServersInNewConf(next)
                    .build();
            return server.setConfigurationAsync(requests.setConfiguration(arguments))
                    .thenCompose(QuorumMembers::toResult);
        } catch (IOException | TimeoutException | IllegalArgumentException failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    private static CompletableFuture<Void> toResult(RaftClientReply reply) {
        if (reply.isSuccess()) {
            return CompletableFuture.completedFuture(null);
        }
        if (reply.getException() instanceof ReconfigurationTimeoutException) {
            return CompletableFuture.failedFuture(new TimeoutException(
                    "the new voter does not respond at its quorum.listener, or does not catch up; start its broker, and"
                            + " compare the address"));
        }
        return CompletableFuture.failedFuture(
                new IOException("the voters did not change: " + reply.getException(), reply.getException()));
    }
}
