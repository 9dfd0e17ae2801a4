/**
 * Shards: an event loop and the partitions that only this loop touches. In come appends and reads from the handlers,
 * and metadata images from the controller; out go calls to {@code shard.partition}.
 *
 * <p>Knows no sockets, frames or requests.
 */
package io.journalq.server.shard;
