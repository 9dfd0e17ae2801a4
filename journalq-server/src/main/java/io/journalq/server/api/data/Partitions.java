package io.journalq.server.api.data;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.Shards;
import java.util.function.Supplier;

/** Finds the topic and the shard of a partition that a request names. Any thread. */
final class Partitions {
    private final Supplier<MetadataImage> images;
    private final Shards shards;

    Partitions(Supplier<MetadataImage> images, Shards shards) {
        this.images = images;
        this.shards = shards;
    }

    /** The topic, if it has that partition; else null. */
    TopicImage topicOf(String name, int partition) {
        TopicImage topic = images.get().topic(name);
        return topic != null && partition >= 0 && partition < topic.partitions().size() ? topic : null;
    }

    /** What a client is told when the partition's shard does not host it. */
    ErrorCode errorOfMissing(TopicImage topic, int partition) {
        return shards.offlinePartitions().errorOfMissing(topic.id(), partition);
    }

    Shard shardOf(TopicImage topic, int partition) {
        return shards.shardOf(topic.id(), partition);
    }
}
