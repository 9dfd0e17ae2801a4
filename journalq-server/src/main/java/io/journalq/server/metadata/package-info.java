/**
 * The metadata of the cluster as a pure machine: topics, partitions, their configuration, producer ids.
 *
 * <p>In: operations that clients request, and records of the metadata log. Out: decisions (records to append, or an
 * error), immutable {@link io.journalq.server.metadata.MetadataImage}s, and what changed from one to the next. State
 * changes only in {@code replay}. It must not know threads, clocks, random sources, sockets or files: the required
 * values are passed as arguments.
 */
package io.journalq.server.metadata;
