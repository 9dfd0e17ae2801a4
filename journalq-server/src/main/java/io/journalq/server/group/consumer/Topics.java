package io.journalq.server.group.consumer;

import io.journalq.common.id.Uuid;
import java.util.Collection;
import java.util.List;

/**
 * The topics of the cluster as of one moment, as groups need them. An instance never changes: when topics come, go or grow,
 * the host hands in another one, and only then.
 */
public interface Topics {
    /** Before anything is known. */
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

    /** The topic of that name; null when there is none. */
    Topic byName(String name);

    /** The topic of that id; null when there is none. */
    Topic byId(Uuid id);

    /** Every topic that a pattern may match: internal ones are not among them. */
    Collection<Topic> all();

    /**
     * A topic.
     *
     * @param id names this topic and no other, ever
     * @param name the name that clients use
     * @param partitionCount partitions 0 to this, exclusive
     */
    record Topic(Uuid id, String name, int partitionCount) {}
}
