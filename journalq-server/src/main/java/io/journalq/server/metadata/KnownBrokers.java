package io.journalq.server.metadata;

import io.journalq.server.metadata.ClusterDecider.Kept;
import io.journalq.server.metadata.index.SortedIndex;
import io.journalq.server.metadata.partition.LeaderElection;
import io.journalq.server.metadata.partition.PartitionImage;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The brokers of the metadata, with those that a decision changes. */
final class KnownBrokers implements LeaderElection.Brokers {
    private final SortedIndex<Integer, BrokerImage> brokers;
    private final Map<Integer, BrokerImage> changed = new TreeMap<>();
    /** What the changed brokers still have. */
    private final Kept kept;

    KnownBrokers(SortedIndex<Integer, BrokerImage> brokers, Collection<BrokerImage> changed) {
        this(brokers, changed, Kept.ALL);
    }

    KnownBrokers(SortedIndex<Integer, BrokerImage> brokers, Collection<BrokerImage> changed, Kept kept) {
        this.brokers = brokers;
        this.kept = kept;
        changed.forEach(broker -> this.changed.put(broker.nodeId(), broker));
    }

    /** The brokers as replicas of a topic. */
    KnownBrokers of(TopicImage topic) {
        return kept == Kept.SYNCED && ReplicatedTopicRules.isConsistent(topic.configs())
                ? new KnownBrokers(brokers, changed.values(), Kept.ALL)
                : this;
    }

    /** Whether one of the replicas is on a changed broker. Called for every partition of the cluster. */
    boolean changesAny(PartitionImage partition) {
        List<Integer> replicas = partition.replicas();
        for (int index = 0; index < replicas.size(); index++) {
            if (changed.containsKey(replicas.get(index))) {
                return true;
            }
        }
        return false;
    }

    private BrokerImage find(int nodeId) {
        BrokerImage broker = changed.get(nodeId);
        return broker == null ? brokers.find(nodeId) : broker;
    }

    @Override
    public boolean isLive(int nodeId) {
        BrokerImage broker = find(nodeId);
        return broker != null && broker.isLive();
    }

    @Override
    public boolean stays(int nodeId) {
        BrokerImage broker = find(nodeId);
        return broker != null && broker.stays();
    }

    @Override
    public boolean hasRoom(int nodeId) {
        BrokerImage broker = find(nodeId);
        return broker != null && !broker.full();
    }

    @Override
    public boolean keepsRecords(int nodeId) {
        return kept == Kept.ALL || !changed.containsKey(nodeId);
    }
}
