package io.journalq.server.shard.coordinator.group;

import io.journalq.common.id.Uuid;
import io.journalq.server.group.consumer.Topics;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** The topics of an image, as groups need them. Immutable, any thread. */
final class ImageTopics implements Topics {
    private final MetadataImage image;

    ImageTopics(MetadataImage image) {
        this.image = image;
    }

    private static Topic topic(TopicImage topic) {
        return topic == null
                ? null
                : new Topic(topic.id(), topic.name(), topic.partitions().size());
    }

    @Override
    public Topic byName(String name) {
        return topic(image.topic(name));
    }

    @Override
    public Topic byId(Uuid id) {
        return topic(image.topic(id));
    }

    /** Created on demand, for groups with patterns, because an image may contain very many topics. */
    @Override
    public Collection<Topic> all() {
        List<Topic> matchable = new ArrayList<>(image.topics().size());
        for (TopicImage topic : image.topics()) {
            if (!InternalTopics.contains(topic.name())) {
                matchable.add(topic(topic));
            }
        }
        return matchable;
    }
}
