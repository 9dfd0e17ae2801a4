/**
 * What a partition knows besides its records: which batches of which producers it has, and which of their transactions
 * are open (more of replication comes later). Pure machines: inputs are calls that carry the time, state changes only in
 * {@code replay}, so that the live path and recovery are one.
 *
 * <p>Knows no threads, clocks, sockets or files.
 */
package io.journalq.server.replication;
