package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/** All metadata as of one moment. Immutable, any thread. */
public final class MetadataImage {
    /** Before anything is known. */
    public static final MetadataImage EMPTY =
            new MetadataImage("", 0, Map.of(), ClientQuotas.NONE, ResourceConfigs.NONE);

    private final String clusterId;
    private final long version;
    private final Map<String, TopicImage> topicByName;
    private final Map<Uuid, TopicImage> topicById = new TreeMap<>();
    private final ClientQuotas quotas;
    private final ResourceConfigs resources;

    MetadataImage(
            String clusterId,
            long version,
            Map<String, TopicImage> topicByName,
            ClientQuotas quotas,
            ResourceConfigs resources) {
        this.clusterId = clusterId;
        this.version = version;
        this.quotas = quotas;
        this.resources = resources;
        this.topicByName = Collections.unmodifiableMap(new TreeMap<>(topicByName));
        this.topicByName.values().forEach(topic -> topicById.put(topic.id(), topic));
    }

    public String clusterId() {
        return clusterId;
    }

    /** How many records of the metadata log it holds. */
    public long version() {
        return version;
    }

    /** What clients may do at most. */
    public ClientQuotas quotas() {
        return quotas;
    }

    /** Settings of groups, of client metrics and of brokers. */
    public ResourceConfigs resources() {
        return resources;
    }

    /** The topic of that name, or null. */
    public TopicImage topic(String name) {
        return topicByName.get(name);
    }

    /** The topic of that id, or null. */
    public TopicImage topic(Uuid id) {
        return topicById.get(id);
    }

    /** Every topic, by name. */
    public Collection<TopicImage> topics() {
        return topicByName.values();
    }
}
