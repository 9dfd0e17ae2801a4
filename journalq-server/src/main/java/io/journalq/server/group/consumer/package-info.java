/**
 * Consumer groups of the consumer protocol (KIP-848), without threads, clocks, files or sockets.
 *
 * <p>The coordinator decides who gets which partition. A change of members, subscriptions or topics makes a new group epoch;
 * an {@link io.journalq.server.group.consumer.assignor.Assignor} computes a target for it; each member walks towards its own target
 * with its heartbeats ({@link io.journalq.server.group.consumer.Reconciliation}): it gives up first, and gets what others
 * have given up after. So a partition has one owner at any time, and nobody waits for the slowest member.
 *
 * <p>In come heartbeats, requests of members that still speak the classic protocol, topics, time. Out go records and
 * answers. Must not know: loops, journals, stores, connections, metadata images.
 */
package io.journalq.server.group.consumer;
