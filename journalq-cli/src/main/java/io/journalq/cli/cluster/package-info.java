/**
 * Commands that operate a cluster: its brokers, the replicas and leaders of partitions, the quorum. They plan moves here, and
 * make them with {@code journalq-client}.
 */
package io.journalq.cli.cluster;
