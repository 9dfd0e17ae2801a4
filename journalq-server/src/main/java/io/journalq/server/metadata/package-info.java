/**
 * What the cluster consists of, as a pure machine: topics, partitions, their configuration, producer ids.
 *
 * <p>In: operations that clients ask for, and records of the metadata log. Out: decisions (records to append, or an error)
 * and immutable {@link io.journalq.server.metadata.MetadataImage}s. State changes only in {@code replay}. It must not
 * know threads, clocks, random sources, sockets or files: what it needs of them comes as an argument.
 */
package io.journalq.server.metadata;
