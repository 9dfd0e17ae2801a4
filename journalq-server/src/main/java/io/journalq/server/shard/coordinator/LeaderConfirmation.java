package io.journalq.server.shard.coordinator;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetForLeaderEpochRequest;
import io.journalq.common.protocol.message.OffsetForLeaderEpochResponse;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.shard.partition.PartitionHost;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Confirms that this broker still led a partition when a read arrived. A broker that was replaced may not know it yet, and
 * what it knows may be old. So each broker that could lead instead is asked whether it knows a later epoch (in Raft, this
 * is called ReadIndex). Reads that arrive while requests are on their way wait for the next ones, because an earlier
 * request proves nothing about them.
 *
 * <p>On the partition's loop.
 */
final class LeaderConfirmation {
    private static final int VERSION = 4;
    private static final int TIMEOUT_MS = 1_000;
    /** Asks for the end of the log of any replica, which can be anything. */
    private static final int ANY_EPOCH = -1;

    /** Time after which brokers that have not responded are asked again, and the metadata are looked at. */
    static final int RETRY_MS = 20;

    /** Time after which a read fails, so that the client looks for the coordinator again. */
    static final int LIMIT_MS = 5_000;

    private final PartitionHost partition;
    private final LoopCycle cycle;
    private final PeerRequests peers;
    private final int nodeId;
    private List<Read> arrived = new ArrayList<>();
    /** Null while no read waits. */
    private Round round;

    private boolean ended;

    private record Read(long arrivedNanos, Runnable confirmed, Consumer<ErrorCode> failed) {}

    /**
     * Asks nobody yet.
     *
     * @param nodeId this broker
     */
    LeaderConfirmation(PartitionHost partition, LoopCycle cycle, PeerRequests peers, int nodeId) {
        this.partition = partition;
        this.cycle = cycle;
        this.peers = peers;
        this.nodeId = nodeId;
    }

    /**
     * Confirms that this broker leads the partition. At once, if no other broker could lead it.
     *
     * @param confirmed called when this broker has led since this method was called
     * @param failed receives NOT_COORDINATOR if another broker leads, or if that cannot be found out in time
     */
    void confirm(Runnable confirmed, Consumer<ErrorCode> failed) {
        if (ended || !partition.leads()) {
            failed.accept(ErrorCode.NOT_COORDINATOR);
        } else if (partition.replica().successors().isEmpty()) {
            confirmed.run();
        } else {
            arrived.add(new Read(cycle.loop().nanoTime(), confirmed, failed));
            if (round == null) {
                start();
            }
        }
    }

    /** Fails all reads that wait. */
    void end() {
        ended = true;
        List<Read> failing = new ArrayList<>(arrived);
        arrived.clear();
        if (round != null) {
            failing.addAll(round.reads);
            round = null;
        }
        failing.forEach(read -> read.failed.accept(ErrorCode.NOT_COORDINATOR));
    }

    private void start() {
        List<Read> reads = arrived;
        arrived = new ArrayList<>();
        round = reads.isEmpty() ? null : new Round(reads, partition.leaderEpoch());
        if (round != null) {
            round.check();
        }
    }

    /** Asks the brokers about the reads that have arrived before. */
    private final class Round {
        private final List<Read> reads;
        private final int leaderEpoch;
        /** Brokers that knew no later epoch. */
        private final Set<Integer> confirming = new HashSet<>();

        private final Set<Integer> asked = new HashSet<>();

        Round(List<Read> reads, int leaderEpoch) {
            this.reads = reads;
            this.leaderEpoch = leaderEpoch;
        }

        private boolean isOver() {
            return round != this;
        }

        /** Looks whether the round has ended, and otherwise asks those that have not responded. */
        void check() {
            if (!partition.leads() || partition.leaderEpoch() != leaderEpoch) {
                end(ErrorCode.NOT_COORDINATOR);
                return;
            }
            // Newer metadata tell who could lead instead: this epoch went on when the others lost their place.
            List<Integer> missing = new ArrayList<>(partition.replica().successors());
            missing.removeAll(confirming);
            if (missing.isEmpty()) {
                end(ErrorCode.NONE);
                return;
            }
            failLate();
            if (reads.isEmpty()) {
                end(ErrorCode.NONE);
                return;
            }
            missing.stream().filter(asked::add).forEach(this::ask);
            cycle.loop()
                    .schedule(
                            () -> {
                                if (!isOver()) {
                                    check();
                                }
                            },
                            RETRY_MS);
        }

        private void failLate() {
            long latestNanos = cycle.loop().nanoTime() - TimeUnit.MILLISECONDS.toNanos(LIMIT_MS);
            List<Read> late = reads.stream()
                    .filter(read -> read.arrivedNanos - latestNanos <= 0)
                    .toList();
            reads.removeAll(late);
            late.forEach(read -> read.failed.accept(ErrorCode.NOT_COORDINATOR));
        }

        private void ask(int broker) {
            var unused = peers.send(broker, request(), VERSION, TIMEOUT_MS, LeaderConfirmation::error)
                    .whenComplete((error, failure) -> cycle.execute(() -> {
                        if (!isOver()) {
                            onResponse(broker, failure == null ? error : ErrorCode.UNKNOWN_SERVER_ERROR);
                        }
                    }));
        }

        private OffsetForLeaderEpochRequest request() {
            return new OffsetForLeaderEpochRequest()
                    .setReplicaId(nodeId)
                    .setTopics(List.of(new OffsetForLeaderEpochRequest.OffsetForLeaderTopic()
                            .setTopic(partition.name().topic())
                            .setPartitions(List.of(new OffsetForLeaderEpochRequest.OffsetForLeaderPartition()
                                    .setPartition(partition.name().partition())
                                    .setCurrentLeaderEpoch(leaderEpoch)
                                    .setLeaderEpoch(ANY_EPOCH)))));
        }

        private void onResponse(int broker, ErrorCode error) {
            if (error == ErrorCode.FENCED_LEADER_EPOCH) {
                end(ErrorCode.NOT_COORDINATOR);
            } else if (error == ErrorCode.NONE) {
                confirming.add(broker);
                if (confirming.containsAll(partition.replica().successors())) {
                    check();
                }
            } else {
                // It restarts, or does not know the partition yet.
                asked.remove(broker);
            }
        }

        private void end(ErrorCode outcome) {
            round = null;
            for (Read read : reads) {
                if (outcome == ErrorCode.NONE) {
                    read.confirmed.run();
                } else {
                    read.failed.accept(outcome);
                }
            }
            if (round == null && !ended) {
                start();
            }
        }
    }

    private static ErrorCode error(ApiMessage response) {
        return ErrorCode.of(((OffsetForLeaderEpochResponse) response)
                .topics()
                .get(0)
                .partitions()
                .get(0)
                .errorCode());
    }
}
