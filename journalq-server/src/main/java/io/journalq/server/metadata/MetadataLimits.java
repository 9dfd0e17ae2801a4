package io.journalq.server.metadata;

/**
 * Limits of the metadata.
 *
 * @param nodeId this node, the only one that can hold partitions
 * @param defaultPartitions number of partitions of a topic that requests the default
 * @param maxPartitionsPerTopic maximum for one topic
 * @param maxPartitions maximum for all topics together
 */
public record MetadataLimits(int nodeId, int defaultPartitions, int maxPartitionsPerTopic, int maxPartitions) {}
