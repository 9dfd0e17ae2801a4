package io.journalq.client.fetch;

import io.journalq.common.id.TopicPartition;

/** One partition that is read, as the event loop sees it, to which it belongs. */
final class FetchTarget {
    final TopicPartition id;
    /** Grows with every seek, so that answers to what was asked before it are told apart. */
    int generation;
    /** The generation of what was asked last. */
    int askedGeneration = -1;
    /** What to ask for next. */
    long offset;
    /** Broker id of the session that the partition is in; -1 for none. */
    int node = -1;
    /** Not asked for before this time, after an error. */
    long blockedUntilNanos;

    boolean blocked;
    /** An error that the application must hear stopped the reading; the next seek starts it again. */
    boolean stopped;

    FetchTarget(TopicPartition id) {
        this.id = id;
    }

    /** Whether an answer through a session is to what is wanted now. */
    boolean isAnsweredBy(FetchSession session) {
        return node == session.nodeId && askedGeneration == generation;
    }
}
