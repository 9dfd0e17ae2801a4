package io.journalq.sim.check;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.shard.partition.ReplicaStatus;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The replicated partitions of a cluster at one moment: what is committed about them, and the replicas that are open. */
public final class ClusterReplicas {
    private final MetadataImage committed;
    private final Map<Id, SortedMap<Integer, ReplicaStatus>> open = new HashMap<>();

    /** Identifies a partition. */
    public record Id(Uuid topicId, int partition) {}

    /** @param committed the newest metadata that a quorum has */
    public ClusterReplicas(MetadataImage committed) {
        this.committed = committed;
    }

    /** Adds the partitions of a broker that is running. */
    public void add(int broker, List<ReplicaStatus> statuses) {
        for (ReplicaStatus status : statuses) {
            PartitionImage partition =
                    partition(new Id(status.topicId(), status.name().partition()));
            if (partition != null && partition.replicas().size() > 1) {
                open.computeIfAbsent(new Id(status.topicId(), status.name().partition()), none -> new TreeMap<>())
                        .put(broker, status);
            }
        }
    }

    /** The committed state of a partition; null if there is none. */
    public PartitionImage partition(Id id) {
        TopicImage topic = committed.topic(id.topicId());
        return topic != null && topic.hasPartition(id.partition())
                ? topic.partitions().get(id.partition())
                : null;
    }

    /** The open replicas of all partitions, by broker. */
    public Map<Id, SortedMap<Integer, ReplicaStatus>> open() {
        return open;
    }

    /** Whether all replicas of all partitions are open, in sync, and have the same end and high watermark. */
    public boolean areEqual() {
        for (TopicImage topic : committed.topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                if (partition.replicas().size() > 1 && !isEqual(new Id(topic.id(), number), partition)) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean isEqual(Id id, PartitionImage partition) {
        SortedMap<Integer, ReplicaStatus> replicas = open.get(id);
        if (replicas == null
                || replicas.size() < partition.replicas().size()
                || partition.inSyncReplicas().size() < partition.replicas().size()) {
            return false;
        }
        ReplicaStatus one = replicas.get(replicas.firstKey());
        return replicas.values().stream()
                .allMatch(other -> other.endOffset() == one.endOffset() && other.highWatermark() == one.endOffset());
    }

    /** The partitions whose replicas differ, for people. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        open.forEach((id, replicas) -> {
            PartitionImage partition = partition(id);
            if (!isEqual(id, partition)) {
                text.append(' ').append(partition).append(' ').append(replicas);
            }
        });
        return text.toString();
    }
}
