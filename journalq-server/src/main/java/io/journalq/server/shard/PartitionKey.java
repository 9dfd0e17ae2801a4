package io.journalq.server.shard;

import io.journalq.common.id.Uuid;

/**
 * Identifies a partition permanently. Immutable.
 *
 * @param partition its number in its topic
 */
record PartitionKey(Uuid topicId, int partition) {}
