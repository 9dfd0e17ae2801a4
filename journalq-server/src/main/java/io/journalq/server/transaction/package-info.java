/**
 * Transactions (KIP-98, KIP-890), without threads, clocks, files or sockets.
 *
 * <p>{@link io.journalq.server.transaction.TransactionMachine} coordinates all transactional ids of one partition of the
 * internal topic. In come requests and the time; out go records through the coordinator's outbox, answers through replies,
 * decisions through {@link io.journalq.server.transaction.Markers} to the partitions of a transaction, and questions for
 * ids through {@link io.journalq.server.transaction.ProducerIdSource}. A decision is told only once its record is safe,
 * and told again after a restart until all partitions have it.
 *
 * <p>Must not know: loops, journals, partitions' contents, connections.
 */
package io.journalq.server.transaction;
