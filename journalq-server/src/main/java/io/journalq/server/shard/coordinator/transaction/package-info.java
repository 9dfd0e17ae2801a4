/**
 * The transaction coordinators of the broker: gives the transaction machines of {@code transaction} their partitions of
 * {@code __transaction_state}, the producer ids that they ask for, and delivers their markers to partitions and groups. The
 * machines themselves know nothing of this package.
 */
package io.journalq.server.shard.coordinator.transaction;
