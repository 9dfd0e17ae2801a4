package io.journalq.server.api.data;

import io.journalq.server.api.ClusterBrokers;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.shard.partition.PartitionHost;

/**
 * Chooses the replica from which a consumer reads (KIP-392): the one in its rack. Immutable.
 *
 * @param brokers the brokers of the newest image
 */
record NearestReplica(ClusterBrokers brokers) {
    /** The consumer reads from the leader. */
    static final int LEADER = -1;

    /**
     * Finds the replica, on the loop of the partition.
     *
     * @param rack of the consumer; empty if it has none
     * @param offset from which it reads
     * @return the broker of an in-sync replica that has everything before {@code offset}; {@link #LEADER} if none is
     *     nearer than the leader, or this broker does not lead
     */
    int find(String rack, PartitionHost host, long offset) {
        if (rack.isEmpty()) {
            return LEADER;
        }
        MetadataImage image = brokers.images().get();
        BrokerImage self = image.broker(brokers.nodeId());
        if (!host.leads() || (self != null && self.rack().equals(rack))) {
            return LEADER;
        }
        return host.replication().readableReplica(id -> isIn(rack, image.broker(id)), offset);
    }

    /** A broker that is about to stop does not get more consumers. */
    private static boolean isIn(String rack, BrokerImage broker) {
        return broker != null && broker.stays() && broker.rack().equals(rack);
    }
}
