package io.journalq.server.store;

import io.journalq.common.id.Uuid;

/** Provides the stored state of each coordinator. Any thread; may block. */
@FunctionalInterface
public interface CoordinatorSlices {
    /** Stores nothing. */
    CoordinatorSlices NONE = (topicId, partition) -> CoordinatorSlice.NONE;

    /** The stored state of the coordinator of one partition of an internal topic. */
    CoordinatorSlice slice(Uuid topicId, int partition);
}
