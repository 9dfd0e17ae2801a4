package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.metadata.index.SortedIndex;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.PartitionsRecord.PartitionState;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The brokers that new partitions can have. Errors and their reasons are those of Kafka. Stateless. */
final class ReplicaAssignments {
    private static final int MAX_INTERNAL_REPLICAS = 3;

    private final SortedIndex<Integer, BrokerImage> brokers;

    /** @param brokers all registered brokers */
    ReplicaAssignments(SortedIndex<Integer, BrokerImage> brokers) {
        this.brokers = brokers;
    }

    /**
     * Why partitions cannot have {@code replicationFactor} replicas each; null if they can. If too few brokers are live,
     * other registered ones get replicas, too.
     */
    Decision problem(int replicationFactor) {
        if (replicationFactor < 1) {
            return Decision.refuse(
                    ErrorCode.INVALID_REPLICATION_FACTOR,
                    "Replication factor must be larger than 0, or -1 to use the default value.");
        }
        String reason = replicationFactor > brokers.size()
                ? "The target replication factor of " + replicationFactor + " cannot be reached because only "
                        + brokers.size() + " broker(s) are registered."
                : live().isEmpty() ? "All brokers are currently fenced." : null;
        return reason == null
                ? null
                : Decision.refuse(
                        ErrorCode.INVALID_REPLICATION_FACTOR,
                        "Unable to replicate the partition " + replicationFactor + " time(s): " + reason);
    }

    /** Why a client's choice of nodes for each new partition is not possible; null if it is. */
    Decision problem(List<List<Integer>> assignments) {
        return problem(assignments, assignments.get(0).size());
    }

    /** As {@link #problem(List)}, for a topic whose other partitions have {@code replicationFactor} replicas. */
    Decision problem(List<List<Integer>> assignments, int replicationFactor) {
        for (List<Integer> nodes : assignments) {
            String problem = problemOf(nodes, replicationFactor);
            if (problem != null) {
                return Decision.refuse(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem);
            }
        }
        return null;
    }

    /** Why partitions cannot have these nodes, as one of {@code replicationFactor} replicas each; null if they can. */
    String problemOf(List<Integer> nodes, int replicationFactor) {
        if (nodes.isEmpty()) {
            return "The manual partition assignment includes an empty replica list.";
        }
        Set<Integer> known = new TreeSet<>();
        for (int node : nodes) {
            if (brokers.find(node) == null) {
                return "The manual partition assignment includes broker " + node
                        + ", but no such broker is registered.";
            }
            if (!known.add(node)) {
                return "The manual partition assignment includes the broker " + node + " more than once.";
            }
        }
        if (nodes.size() != replicationFactor) {
            return "The manual partition assignment includes a partition with " + nodes.size()
                    + " replica(s), but this is not consistent with previous partitions, which have "
                    + replicationFactor + " replica(s).";
        }
        return nodes.stream().anyMatch(this::isLive)
                ? null
                : "All brokers specified in the manual partition assignment are fenced or in controlled shutdown.";
    }

    /** The number of replicas of an internal topic, if it is not set. */
    int internalReplicationFactor() {
        return Math.max(1, Math.min(MAX_INTERNAL_REPLICAS, brokers.size()));
    }

    /**
     * The nodes for new partitions, if the client did not choose them. If too few brokers are live, the last replicas
     * are on others, which are not in sync until they are back.
     */
    List<List<Integer>> place(Uuid topicId, int firstPartition, int partitionCount, int replicationFactor) {
        List<BrokerImage> live = live();
        int onLive = Math.min(replicationFactor, live.size());
        List<List<Integer>> placed = ReplicaPlacement.place(live, topicId, firstPartition, partitionCount, onLive);
        if (onLive == replicationFactor) {
            return placed;
        }
        List<BrokerImage> away =
                brokers.stream().filter(broker -> !broker.stays()).toList();
        List<List<Integer>> others =
                ReplicaPlacement.place(away, topicId, firstPartition, partitionCount, replicationFactor - onLive);
        return IntStream.range(0, partitionCount)
                .mapToObj(number -> Stream.concat(placed.get(number).stream(), others.get(number).stream())
                        .toList())
                .toList();
    }

    /** The record of new partitions. At least one node of each must be live. */
    PartitionsRecord record(Uuid topicId, int firstPartition, List<List<Integer>> assignments) {
        List<PartitionState> states = new ArrayList<>(assignments.size());
        for (List<Integer> nodes : assignments) {
            List<Integer> inSync = nodes.stream().filter(this::isLive).toList();
            states.add(new PartitionState()
                    .setLeader(inSync.stream().filter(this::hasRoom).findFirst().orElse(inSync.get(0)))
                    .setLeaderEpoch(0)
                    .setReplicas(nodes)
                    .setInSyncReplicas(inSync));
        }
        return new PartitionsRecord()
                .setTopicId(topicId)
                .setFirstPartition(firstPartition)
                .setPartitions(states);
    }

    private List<BrokerImage> live() {
        return brokers.stream().filter(BrokerImage::stays).toList();
    }

    private boolean isLive(int nodeId) {
        return brokers.find(nodeId).stays();
    }

    private boolean hasRoom(int nodeId) {
        return !brokers.find(nodeId).full();
    }
}
