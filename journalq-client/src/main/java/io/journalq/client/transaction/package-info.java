/**
 * Transactions of a producer (KIP-98, KIP-890): begin, what takes part, commit or abort. In: the application's work and
 * what it sends. Out: requests through {@code coordinator}; batches go through {@code produce}, which asks its {@link
 * io.journalq.client.produce.Gate} here. {@link io.journalq.client.transaction.Transaction} and {@link
 * io.journalq.client.transaction.TransactionBody} are the application's, the rest is not. Must not know sockets.
 */
package io.journalq.client.transaction;
