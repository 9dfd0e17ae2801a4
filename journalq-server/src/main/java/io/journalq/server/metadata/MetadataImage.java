package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import java.util.Collection;

/** All metadata at one moment. An image shares with the previous one what did not change. Immutable, any thread. */
public final class MetadataImage {
    /** No metadata. */
    public static final MetadataImage EMPTY =
            new MetadataImage("", 0, TopicIndexes.EMPTY, 0, ClientQuotas.NONE, ResourceConfigs.NONE);

    private final String clusterId;
    private final long version;
    private final TopicIndexes topics;
    private final long nextProducerId;
    private final ClientQuotas quotas;
    private final ResourceConfigs resources;

    MetadataImage(
            String clusterId,
            long version,
            TopicIndexes topics,
            long nextProducerId,
            ClientQuotas quotas,
            ResourceConfigs resources) {
        this.clusterId = clusterId;
        this.version = version;
        this.topics = topics;
        this.nextProducerId = nextProducerId;
        this.quotas = quotas;
        this.resources = resources;
    }

    public String clusterId() {
        return clusterId;
    }

    /** Number of records of the metadata log that the image contains. */
    public long version() {
        return version;
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

    TopicIndexes indexes() {
        return topics;
    }
}
