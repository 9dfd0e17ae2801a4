package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/** All metadata at one moment. Immutable, any thread. */
public final class MetadataImage {
    /** No metadata. */
    public static final MetadataImage EMPTY =
            new MetadataImage("", 0, List.of(), List.of(), ClientQuotas.NONE, ResourceConfigs.NONE);

    private final String clusterId;
    private final long version;
    /** Ascending. Lists, because they use a tenth of the memory of maps, and every change creates new ones. */
    private final List<TopicImage> topicsByName;

    private final List<TopicImage> topicsById;
    private final ClientQuotas quotas;
    private final ResourceConfigs resources;

    /** @param topicsByName every topic, ordered by name and then by id */
    MetadataImage(
            String clusterId,
            long version,
            Collection<TopicImage> topicsByName,
            Collection<TopicImage> topicsById,
            ClientQuotas quotas,
            ResourceConfigs resources) {
        this.clusterId = clusterId;
        this.version = version;
        this.quotas = quotas;
        this.resources = resources;
        this.topicsByName = List.copyOf(topicsByName);
        this.topicsById = List.copyOf(topicsById);
    }

    public String clusterId() {
        return clusterId;
    }

    /** Number of records of the metadata log that the image contains. */
    public long version() {
        return version;
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
        return find(topicsByName, TopicImage::name, name);
    }

    /** The topic with this id, or null. */
    public TopicImage topic(Uuid id) {
        return find(topicsById, TopicImage::id, id);
    }

    private static <K extends Comparable<K>> TopicImage find(
            List<TopicImage> ascending, Function<TopicImage, K> key, K wanted) {
        int low = 0;
        int high = ascending.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            TopicImage topic = ascending.get(middle);
            int order = key.apply(topic).compareTo(wanted);
            if (order == 0) {
                return topic;
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return null;
    }

    /** Every topic, by name. */
    public Collection<TopicImage> topics() {
        return topicsByName;
    }
}
