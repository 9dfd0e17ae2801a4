package io.journalq.server.store;

import io.journalq.common.id.Uuid;

/** Gives each coordinator its part of what is stored. Any thread; may block. */
@FunctionalInterface
public interface CoordinatorSlices {
    /** Nothing is stored. */
    CoordinatorSlices NONE = (topicId, partition) -> CoordinatorSlice.NONE;

    /** The part of the coordinator of one partition of an internal topic. */
    CoordinatorSlice slice(Uuid topicId, int partition);
}
