/**
 * The transactions of a producer (KIP-98, KIP-890): begin, add partitions and offsets, commit or abort. Requests go through
 * {@code coordinator}. Batches go through {@code produce}, which asks the {@link io.journalq.client.internal.produce.Gate}
 * implemented here before it sends one. Must not know sockets.
 */
package io.journalq.client.internal.transaction;
