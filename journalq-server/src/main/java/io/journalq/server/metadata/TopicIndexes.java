package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.index.SortedIndex;

/**
 * All topics, by each of their keys. Immutable, any thread.
 *
 * @param byCollisionKey by {@link TopicNameRules#collisionKey}
 * @param partitionCount number of partitions of all topics
 */
record TopicIndexes(
        SortedIndex<String, TopicImage> byName,
        SortedIndex<Uuid, TopicImage> byId,
        SortedIndex<String, TopicImage> byCollisionKey,
        int partitionCount) {
    static final TopicIndexes EMPTY = new TopicIndexes(
            SortedIndex.by(TopicImage::name),
            SortedIndex.by(TopicImage::id),
            SortedIndex.by(topic -> TopicNameRules.collisionKey(topic.name())),
            0);

    /** A copy with {@code topic}, which replaces the one with its name and id. */
    TopicIndexes with(TopicImage topic) {
        TopicImage before = byName.find(topic.name());
        int partitionsBefore = before == null ? 0 : before.partitions().size();
        return new TopicIndexes(
                byName.with(topic),
                byId.with(topic),
                byCollisionKey.with(topic),
                partitionCount - partitionsBefore + topic.partitions().size());
    }

    /** A copy without {@code topic}. */
    TopicIndexes without(TopicImage topic) {
        return new TopicIndexes(
                byName.without(topic.name()),
                byId.without(topic.id()),
                byCollisionKey.without(TopicNameRules.collisionKey(topic.name())),
                partitionCount - topic.partitions().size());
    }
}
