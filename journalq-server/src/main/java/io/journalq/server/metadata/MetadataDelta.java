package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.partition.PartitionImage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

/**
 * What a batch of records has changed: the images before and after it, and the topics in which they differ. Followers
 * of the metadata look at these topics only, and not at all topics. Immutable, any thread.
 *
 * @param before the image before the batch
 * @param now the image after the batch
 * @param topics the changed topics, in the order of their first changes; a topic that the batch both creates and
 *     removes is not one of them
 */
public record MetadataDelta(MetadataImage before, MetadataImage now, List<TopicChange> topics) {
    public MetadataDelta {
        topics = List.copyOf(topics);
    }

    /**
     * A topic that was created, changed or removed.
     *
     * @param before null if it was created
     * @param now null if it was removed
     */
    public record TopicChange(TopicImage before, TopicImage now) {
        /** Whether the topic was removed. */
        public boolean isRemoval() {
            return now == null;
        }

        /** The partitions that were added or changed, in ascending order; none if the topic was removed. */
        public List<PartitionDelta> partitions() {
            List<PartitionDelta> changed = new ArrayList<>();
            int count = now == null ? 0 : now.partitions().size();
            for (int number = 0; number < count; number++) {
                PartitionImage was = before != null && before.hasPartition(number)
                        ? before.partitions().get(number)
                        : null;
                PartitionImage is = now.partitions().get(number);
                if (!is.equals(was)) {
                    changed.add(new PartitionDelta(number, was, is));
                }
            }
            return changed;
        }
    }

    /**
     * A partition that was added or changed.
     *
     * @param before null if it was added
     */
    public record PartitionDelta(int number, PartitionImage before, PartitionImage now) {}

    /** The delta from {@link MetadataImage#EMPTY} to {@code image}, for those who begin to follow the metadata. */
    public static MetadataDelta ofAll(MetadataImage image) {
        return new MetadataDelta(
                MetadataImage.EMPTY,
                image,
                image.topics().stream()
                        .map(topic -> new TopicChange(null, topic))
                        .toList());
    }

    /** @param touched ids of all topics that the records have changed, in order */
    static MetadataDelta of(MetadataImage before, MetadataImage now, Collection<Uuid> touched) {
        List<TopicChange> changes = new ArrayList<>(touched.size());
        for (Uuid id : touched) {
            TopicImage topicBefore = before.topic(id);
            TopicImage topicNow = now.topic(id);
            if (!Objects.equals(topicBefore, topicNow)) {
                changes.add(new TopicChange(topicBefore, topicNow));
            }
        }
        return new MetadataDelta(before, now, changes);
    }

    /** Whether a topic was removed. */
    public boolean removesTopics() {
        return topics.stream().anyMatch(TopicChange::isRemoval);
    }

    /** Whether settings of brokers, groups or other resources except topics have changed. */
    public boolean changesResources() {
        return before.resources() != now.resources();
    }

    /** Whether the topic of this name was created, changed or removed. */
    public boolean changesTopic(String name) {
        return !Objects.equals(before.topic(name), now.topic(name));
    }
}
