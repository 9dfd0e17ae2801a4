/**
 * Runs the metadata machine: one thread accepts operations, makes their records durable in the metadata log, has them
 * replayed and publishes the new image.
 *
 * <p>In: operations from handlers. Out: futures of outcomes, and {@link io.journalq.server.metadata.MetadataImage}s for
 * listeners. It must not know connections, shards or the purpose of an image.
 */
package io.journalq.server.control;
