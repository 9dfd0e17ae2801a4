/**
 * Runs the metadata machine: one thread takes operations, makes their records durable in the metadata log, has them
 * replayed and publishes the new image.
 *
 * <p>In: operations from handlers. Out: futures of outcomes, and {@link io.journalq.server.metadata.MetadataImage}s to
 * whoever listens. It must not know connections, shards or what an image is used for.
 */
package io.journalq.server.control;
