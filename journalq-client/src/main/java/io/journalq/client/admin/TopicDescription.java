package io.journalq.client.admin;

import io.journalq.common.id.Uuid;
import java.util.List;

/**
 * A topic with its partitions, sorted by number. Immutable.
 *
 * @param id the id of the topic, or {@link Uuid#ZERO} if the broker does not report it
 * @param internal whether the topic is used by the broker itself
 */
public record TopicDescription(String name, Uuid id, boolean internal, List<PartitionDescription> partitions) {
    public TopicDescription {
        partitions = List.copyOf(partitions);
    }
}
