/**
 * The transaction coordinators of the broker. Assigns the transaction machines of {@code transaction} to the partitions
 * of {@code __transaction_state}, supplies the producer ids that they request, and delivers their markers to partitions
 * and groups. The machines do not know this package.
 */
package io.journalq.server.shard.coordinator.transaction;
