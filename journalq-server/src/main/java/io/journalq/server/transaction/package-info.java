/**
 * Transactions (KIP-98, KIP-890), without threads, clocks, files or sockets.
 *
 * <p>{@link io.journalq.server.transaction.TransactionMachine} coordinates all transactional ids of one partition of
 * the internal topic. Requests and the time come in. Records go out through the coordinator's outbox, responses through
 * replies, decisions through {@link io.journalq.server.transaction.Markers} to the partitions of a transaction, and
 * requests for ids through {@link io.journalq.server.transaction.ProducerIdSource}. Partitions are informed of a
 * decision only once its record is safe. After a restart they are informed again, until all of them have their markers.
 *
 * <p>Must not know: loops, journals, partitions' contents, connections.
 */
package io.journalq.server.transaction;
