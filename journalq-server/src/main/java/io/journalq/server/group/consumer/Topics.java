package io.journalq.server.group.consumer;

import io.journalq.common.id.Uuid;
import java.util.Collection;
import java.util.List;

/**
 * The topics of the cluster at one moment, as groups need them. An instance never changes. The host passes a new
 * instance when topics are created, deleted or extended, and only then.
 */
public interface Topics {
    /** Used until the topics are known. */
    Topics NONE = new Topics() {
        @Override
        public Topic byName(String name) {
            return null;
        }

        @Override
        public Topic byId(Uuid id) {
            return null;
        }

        @Override
        public Collection<Topic> all() {
            return List.of();
        }
    };

    /** The topic with this name; null if there is none. */
    Topic byName(String name);

    /** The topic with this id; null if there is none. */
    Topic byId(Uuid id);

    /** Every topic that a pattern may match: all except internal ones. */
    Collection<Topic> all();

    /**
     * A topic.
     *
     * @param id identifies this topic permanently
     * @param name the name that clients use
     * @param partitionCount the partitions are 0 to this, exclusive
     */
    record Topic(Uuid id, String name, int partitionCount) {}
}
