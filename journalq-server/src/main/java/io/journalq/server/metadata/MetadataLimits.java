package io.journalq.server.metadata;

/**
 * What bounds the metadata.
 *
 * @param nodeId this node, the only one that partitions can be placed on
 * @param defaultPartitions partitions of a topic that asks for the default
 * @param maxPartitionsPerTopic most of one topic
 * @param maxPartitions most of all topics together
 */
public record MetadataLimits(int nodeId, int defaultPartitions, int maxPartitionsPerTopic, int maxPartitions) {}
