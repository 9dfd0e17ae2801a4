/**
 * The membership of a consumer in a group (KIP-848): heartbeats, assignment, committed offsets. Assigned partitions go to
 * {@code fetch}, requests go through {@code coordinator}. {@link io.journalq.client.internal.membership.Membership} and
 * {@link io.journalq.client.internal.membership.Commits} belong to the event loop; {@link
 * io.journalq.client.internal.membership.Subscriber} belongs to the consumer's thread. Must not know sockets or decode
 * records.
 */
package io.journalq.client.internal.membership;
