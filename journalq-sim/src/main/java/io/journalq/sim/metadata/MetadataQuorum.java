package io.journalq.sim.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.server.control.Controller;
import io.journalq.server.control.MetadataBatch;
import io.journalq.server.control.MetadataLog.Members;
import io.journalq.server.control.MetadataLog.Role;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The brokers that vote on the metadata log, with their controllers. A proposal is committed when its proposer still leads,
 * and takes no time. One thread.
 */
final class MetadataQuorum {
    /** The values of a broker, {@code broker.session.timeout.ms} and {@code broker.heartbeat.interval.ms}. */
    static final int SESSION_MS = 3_000;

    static final int HEARTBEAT_MS = 200;

    private final CommittedLog log;
    private final LongSupplier nowMs;
    private final List<Voter> voters = new ArrayList<>();
    private Voter leader;
    private int term;
    private Proposal pending;
    /** Number of batches after which the leader loses its term; negative if it does not. */
    private int deposedAfter = -1;

    /** A broker that votes. */
    private record Voter(int nodeId, Observer observer, VoterLog log, TaskThread thread, Controller controller) {}

    private record Proposal(int nodeId, MetadataBatch batch, CompletableFuture<Void> result) {}

    MetadataQuorum(CommittedLog log, LongSupplier nowMs) {
        this.log = log;
        this.nowMs = nowMs;
    }

    /** Adds a voter, and starts its controller. */
    void add(int nodeId, Observer observer, Supplier<Uuid> ids) throws IOException {
        TaskThread thread = new TaskThread();
        VoterLog voterLog = new VoterLog(this, nodeId);
        Controller controller = new Controller(observer.replica(), voterLog, ids, thread);
        controller.watchBrokers(
                nowMs, SESSION_MS, HEARTBEAT_MS, (node, partitions) -> CompletableFuture.completedFuture(Map.of()));
        voters.add(new Voter(nodeId, observer, voterLog, thread, controller));
        var unused = controller.start(clusterId -> {});
    }

    /** The controller that decides; null if none does. */
    Controller controller() {
        return leader == null ? null : leader.controller();
    }

    /** The broker that decides; 0 if none does. */
    int leaderId() {
        return leader == null ? 0 : leader.nodeId();
    }

    /** The metadata of the broker that decides. */
    Observer leaderMetadata() {
        return leader.observer();
    }

    /** Whether a broker replays the log by itself, because it decides. */
    boolean isLeader(int nodeId) {
        return leaderId() == nodeId;
    }

    Members members() {
        return new Members(
                leader == null ? Members.NO_LEADER : leader.nodeId(),
                term,
                voters.stream().map(Voter::nodeId).toList());
    }

    /** Elects a voter. */
    void elect(int nodeId) {
        term++;
        leader = voters.stream()
                .filter(voter -> voter.nodeId() == nodeId)
                .findFirst()
                .orElseThrow();
        leader.observer().catchUp();
        leader.log().become(Role.LEADING);
    }

    /** The leader loses its term, for example because it has died. What it has proposed is not committed. */
    void depose() {
        deposedAfter = -1;
        Voter deposed = leader;
        leader = null;
        if (deposed != null) {
            deposed.log().become(Role.FOLLOWING);
        }
        Proposal lost = pending;
        pending = null;
        if (lost != null) {
            lost.result().completeExceptionally(new IOException("this broker no longer leads the metadata quorum"));
        }
    }

    /** The leader loses its term when that many more batches are committed. */
    void deposeAfter(int batches) {
        deposedAfter = batches;
    }

    /** Takes {@link #deposeAfter} back. */
    void keepTerm() {
        deposedAfter = -1;
    }

    CompletableFuture<Void> propose(int nodeId, MetadataBatch batch) {
        if (pending != null) {
            return CompletableFuture.failedFuture(new IllegalStateException("a metadata proposal is in flight"));
        }
        pending = new Proposal(nodeId, batch, new CompletableFuture<>());
        return pending.result();
    }

    /** Runs the next task of a controller, or commits the proposal. Returns whether there was something to do. */
    boolean step() {
        for (Voter voter : voters) {
            if (voter.thread().runNext()) {
                return true;
            }
        }
        if (pending == null) {
            return false;
        }
        if (deposedAfter == 0) {
            depose();
            return true;
        }
        deposedAfter--;
        commit();
        return true;
    }

    private void commit() {
        Proposal proposal = pending;
        pending = null;
        if (proposal.nodeId() != leaderId() || proposal.batch().baseOffset() != log.endOffset()) {
            proposal.result().completeExceptionally(new IOException("a batch does not fit the metadata log"));
            return;
        }
        log.append(proposal.batch().records(), leader.observer().replica().level(), nowMs.getAsLong());
        leader.observer().catchUp();
        proposal.result().complete(null);
    }
}
