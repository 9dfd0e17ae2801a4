/**
 * The replicas of partitions in the metadata: who leads, who is in sync, and who may lead next. In: the state of a
 * partition, and which brokers are alive. Out: its next state. Knows no topics and no records of the log.
 */
package io.journalq.server.metadata.partition;
