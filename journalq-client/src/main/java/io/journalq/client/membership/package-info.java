/**
 * A consumer's membership in a group by the consumer protocol (KIP-848): heartbeats, what the group assigns, committed
 * offsets. In: a subscription, and what was read. Out: partitions for {@code fetch} to read, commits through
 * {@code coordinator}. {@link io.journalq.client.membership.Membership} and {@link
 * io.journalq.client.membership.Commits} live on the event loop; {@link io.journalq.client.membership.Subscriber} is the
 * consumer's thread. Must not know sockets, nor decode records.
 */
package io.journalq.client.membership;
