package io.journalq.client.admin;

import io.journalq.common.id.Uuid;
import java.util.List;

/**
 * A topic and its partitions, by partition number. Immutable.
 *
 * @param id {@link Uuid#ZERO} when the broker does not tell
 */
public record TopicDescription(String name, Uuid id, boolean internal, List<PartitionDescription> partitions) {
    public TopicDescription {
        partitions = List.copyOf(partitions);
    }
}
