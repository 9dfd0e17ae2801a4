/**
 * Shards: an event loop and the partitions that it alone touches. In come appends and reads from the handlers, images
 * from the controller; out go calls to journals, and to whoever waits for an append or for news of a partition.
 *
 * <p>Knows nothing of sockets, frames or requests.
 */
package io.journalq.server.shard;
