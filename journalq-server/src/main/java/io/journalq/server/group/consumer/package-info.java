/**
 * Consumer groups of the consumer protocol (KIP-848), without threads, clocks, files or sockets.
 *
 * <p>The coordinator assigns partitions. A change of members, subscriptions or topics creates a new group epoch, and an
 * {@link io.journalq.server.group.consumer.assignor.Assignor} computes a target for it. With its heartbeats, each
 * member moves towards its own target ({@link io.journalq.server.group.consumer.Reconciliation}): it first revokes
 * partitions, and then gets the partitions that others have revoked. Therefore a partition has at most one owner at any
 * time, and no member waits for the slowest one.
 *
 * <p>In: heartbeats, requests of members that still use the classic protocol, topics, time. Out: records and responses.
 * Must not know: loops, journals, stores, connections, metadata images.
 */
package io.journalq.server.group.consumer;
