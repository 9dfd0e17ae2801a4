/**
 * Replication of the partitions of one loop: fetches from the brokers that lead them, and the proposals of leaders.
 *
 * <p>In: partitions and their roles, responses of leaders. Out: fetches, batches for the partitions, proposals of in-sync
 * replicas, and requests to cut a log. It knows no shard and no controller, only the ports that it declares.
 */
package io.journalq.server.shard.replica;
