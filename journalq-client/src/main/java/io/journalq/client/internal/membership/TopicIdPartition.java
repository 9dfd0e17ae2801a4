package io.journalq.client.internal.membership;

import io.journalq.common.id.Uuid;

/**
 * A partition of a topic id, as the consumer group protocol identifies it. A topic that is deleted and created again
 * has a new id.
 */
record TopicIdPartition(Uuid topicId, int partition) {}
