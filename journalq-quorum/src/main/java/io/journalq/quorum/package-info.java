/**
 * The metadata log of a cluster, on Apache Ratis. In: batches that the leading controller proposes. Out: committed batches
 * in order, on every voter, to the {@link io.journalq.server.control.MetadataLog.Replica}. Knows records only as bytes and
 * offsets, and does not decide on metadata. No other module depends on Ratis. See decision 20.
 */
package io.journalq.quorum;
