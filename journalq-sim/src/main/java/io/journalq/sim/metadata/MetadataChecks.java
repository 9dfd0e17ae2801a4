package io.journalq.sim.metadata;

import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataDelta.PartitionDelta;
import io.journalq.server.metadata.MetadataDelta.TopicChange;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.sim.metadata.MetadataResult.Spread;
import io.journalq.sim.world.Violations;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/** What holds for the metadata of a cluster. One thread. */
final class MetadataChecks {
    private static final String ELECTIONS = "LeadersAreElected";
    private static final String CLEAN = "ElectionsAreClean";
    private static final String PLACEMENT = "ReplicasAreApart";

    private final Violations violations;

    MetadataChecks(Violations violations) {
        this.violations = violations;
    }

    /** A leader changes only in a new leader epoch, and to a replica that has all acknowledged records. */
    void onDelta(MetadataDelta delta) {
        for (TopicChange topic : delta.topics()) {
            for (PartitionDelta partition : topic.partitions()) {
                check(topic.now().name() + "-" + partition.number(), partition.before(), partition.now());
            }
        }
    }

    private void check(String name, PartitionImage before, PartitionImage now) {
        if (before == null) {
            return;
        }
        boolean changesLeader = now.leader() != before.leader();
        if (now.leaderEpoch() < before.leaderEpoch() || (changesLeader && now.leaderEpoch() == before.leaderEpoch())) {
            violations.report(CLEAN, name + " does not begin a leader epoch: " + before + ", then " + now);
        }
        boolean isSafe = !now.hasLeader()
                || before.leader() == now.leader()
                || before.inSyncReplicas().contains(now.leader())
                || before.eligibleLeaders().contains(now.leader())
                // A replica that joins ends the reassignment, and can lead at once.
                || (before.reassignment().isInProgress()
                        && !now.reassignment().isInProgress()
                        && now.inSyncReplicas().contains(now.leader()));
        if (!isSafe || now.recoveryEpoch() != PartitionImage.NO_RECOVERY) {
            violations.report(CLEAN, name + " may lose records: " + before + ", then " + now);
        }
    }

    /** What every image promises when no operation is in progress. */
    void check(MetadataImage image, String step) {
        for (TopicImage topic : image.topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                String problem = problem(image, partition);
                if (problem != null) {
                    violations.report(ELECTIONS, step + ": " + topic.name() + "-" + number + " " + problem);
                }
                problem = placementProblem(image, partition);
                if (problem != null) {
                    violations.report(PLACEMENT, step + ": " + topic.name() + "-" + number + " " + problem);
                }
            }
        }
    }

    private static String problem(MetadataImage image, PartitionImage partition) {
        if (!partition.replicas().containsAll(partition.inSyncReplicas())) {
            return "has members that are no replicas: " + partition;
        }
        for (int member : partition.inSyncReplicas()) {
            if (image.liveBroker(member) == null) {
                return "has a fenced member: " + partition;
            }
        }
        if (partition.hasLeader()) {
            return partition.inSyncReplicas().contains(partition.leader())
                    ? null
                    : "has a leader that is not in sync: " + partition;
        }
        List<Integer> eligible = new ArrayList<>(partition.inSyncReplicas());
        eligible.addAll(partition.eligibleLeaders());
        return eligible.stream().anyMatch(member -> image.liveBroker(member) != null)
                ? "has no leader, although one lives that has everything: " + partition
                : null;
    }

    private static String placementProblem(MetadataImage image, PartitionImage partition) {
        List<Integer> replicas = partition.targetReplicas();
        Map<String, Integer> racks = new HashMap<>();
        for (int replica : replicas) {
            BrokerImage broker = image.broker(replica);
            if (broker == null) {
                return "has a replica on a broker that is not registered: " + partition;
            }
            racks.merge(broker.rack(), 1, Integer::sum);
        }
        boolean isPlaced = new HashSet<>(replicas).size() == MetadataPlan.REPLICATION_FACTOR
                && replicas.size() == MetadataPlan.REPLICATION_FACTOR
                && racks.size() == MetadataPlan.REPLICATION_FACTOR;
        return isPlaced ? null : "has replicas on the same broker or rack: " + partition;
    }

    /** How replicas and leaders are spread over the brokers that are not fenced. */
    static Spread spread(MetadataImage image, String step) {
        Map<Integer, int[]> counts = new HashMap<>();
        for (BrokerImage broker : image.brokers()) {
            if (broker.isLive()) {
                counts.put(broker.nodeId(), new int[2]);
            }
        }
        for (TopicImage topic : image.topics()) {
            for (PartitionImage partition : topic.partitions()) {
                for (int replica : partition.replicas()) {
                    count(counts, replica, 0);
                }
                count(counts, partition.leader(), 1);
            }
        }
        int[] replicas =
                counts.values().stream().mapToInt(count -> count[0]).sorted().toArray();
        int[] leaders =
                counts.values().stream().mapToInt(count -> count[1]).sorted().toArray();
        return new Spread(step, replicas[0], replicas[replicas.length - 1], leaders[0], leaders[leaders.length - 1]);
    }

    private static void count(Map<Integer, int[]> counts, int nodeId, int index) {
        int[] count = counts.get(nodeId);
        if (count != null) {
            count[index]++;
        }
    }
}
