/**
 * Changes the metadata: the controller decides on operations and proposes records to the metadata log. The log passes
 * what it has committed to the replica of this broker, which replays it and publishes the new image.
 *
 * <p>In: operations from handlers. Out: futures of outcomes, and {@link io.journalq.server.metadata.MetadataImage}s for
 * listeners. It must not know connections, shards or the purpose of an image.
 */
package io.journalq.server.control;
