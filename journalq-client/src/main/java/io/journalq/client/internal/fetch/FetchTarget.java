package io.journalq.client.internal.fetch;

import io.journalq.common.id.TopicPartition;

/** The state of an assigned partition on the event loop. Belongs to the event loop. */
final class FetchTarget {
    final TopicPartition id;
    /** Incremented by each seek, to detect responses to earlier requests. */
    int generation;
    /** The generation of the last request. */
    int askedGeneration = -1;
    /** The offset of the next request. */
    long offset;
    /** The leader epoch of the last batch before that offset, or -1 if unknown. Leaders compare it with their log. */
    int lastFetchedEpoch = -1;
    /** The broker id of the session that contains the partition, or -1 for none. */
    int node = -1;
    /** The leader epoch that the client knows, or -1. A replica with another one refuses the request. */
    int leaderEpoch = -1;
    /** The broker that the leader prefers for this client (KIP-392), or -1 for the leader. */
    int preferredReplica = -1;
    /** The leader is asked again at this time. */
    long preferredUntilNanos;
    /** After an error, the partition is not requested before this time. */
    long blockedUntilNanos;

    boolean blocked;
    /** Whether an error that the application must handle has stopped reading. The next seek resumes it. */
    boolean stopped;

    FetchTarget(TopicPartition id) {
        this.id = id;
    }

    /** Whether a response to the last request of a session is still relevant for this partition. */
    boolean isCurrentFor(BrokerFetchSession session) {
        return node == session.nodeId && askedGeneration == generation;
    }
}
