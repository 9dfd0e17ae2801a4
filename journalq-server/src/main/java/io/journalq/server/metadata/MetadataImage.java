package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.index.SortedIndex;
import io.journalq.server.metadata.security.AclImage;
import io.journalq.server.metadata.security.ScramImage;
import java.util.Collection;

/** All metadata at one moment. An image shares with the previous one what did not change. Immutable, any thread. */
public final class MetadataImage {
    /** No metadata. */
    public static final MetadataImage EMPTY = new MetadataImage(
            "",
            0,
            ActiveController.NONE,
            BrokerImage.NONE,
            TopicIndexes.EMPTY,
            0,
            ClientQuotas.NONE,
            ResourceConfigs.NONE,
            ScramImage.NONE,
            AclImage.NONE);

    private final String clusterId;
    private final long version;
    private final ActiveController controller;
    private final SortedIndex<Integer, BrokerImage> brokers;
    private final TopicIndexes topics;
    private final long nextProducerId;
    private final ClientQuotas quotas;
    private final ResourceConfigs resources;
    private final ScramImage scram;
    private final AclImage acls;

    MetadataImage(
            String clusterId,
            long version,
            ActiveController controller,
            SortedIndex<Integer, BrokerImage> brokers,
            TopicIndexes topics,
            long nextProducerId,
            ClientQuotas quotas,
            ResourceConfigs resources,
            ScramImage scram,
            AclImage acls) {
        this.clusterId = clusterId;
        this.version = version;
        this.controller = controller;
        this.brokers = brokers;
        this.topics = topics;
        this.nextProducerId = nextProducerId;
        this.quotas = quotas;
        this.resources = resources;
        this.scram = scram;
        this.acls = acls;
    }

    public String clusterId() {
        return clusterId;
    }

    /** Number of records of the metadata log that the image contains. */
    public long version() {
        return version;
    }

    /** The broker that has decided on the newest records. */
    public ActiveController controller() {
        return controller;
    }

    /** Every registered broker, by node id. The same object as long as no broker changes. */
    public Collection<BrokerImage> brokers() {
        return brokers;
    }

    /** The broker with this node id, or null. */
    public BrokerImage broker(int nodeId) {
        return brokers.find(nodeId);
    }

    /** The broker with this node id if clients can use it, otherwise null. */
    public BrokerImage liveBroker(int nodeId) {
        BrokerImage broker = brokers.find(nodeId);
        return broker != null && broker.isLive() ? broker : null;
    }

    /** Whether the broker with this node id is live, and not about to stop. */
    public boolean stays(int nodeId) {
        BrokerImage broker = brokers.find(nodeId);
        return broker != null && broker.stays();
    }

    /** The first producer id that is not allocated. */
    public long nextProducerId() {
        return nextProducerId;
    }

    /** The quotas of clients. */
    public ClientQuotas quotas() {
        return quotas;
    }

    /** The configurations of groups, of client metrics and of brokers. */
    public ResourceConfigs resources() {
        return resources;
    }

    /** The credentials of users. */
    public ScramImage scram() {
        return scram;
    }

    /** The access control lists. The same object as long as none changes. */
    public AclImage acls() {
        return acls;
    }

    /** The topic with this name, or null. */
    public TopicImage topic(String name) {
        return topics.byName().find(name);
    }

    /** The topic with this id, or null. */
    public TopicImage topic(Uuid id) {
        return topics.byId().find(id);
    }

    /** Every topic, by name. */
    public Collection<TopicImage> topics() {
        return topics.byName();
    }

    SortedIndex<Integer, BrokerImage> brokerIndex() {
        return brokers;
    }

    TopicIndexes indexes() {
        return topics;
    }
}
