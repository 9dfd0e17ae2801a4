/**
 * Write-ahead files: the partitions of one data directory write their batches here a second time, all together, so that
 * one sync makes all of them durable. The journals' own files are synced later.
 *
 * <p>In: ranges of segment files as they were written. Out: whether they are durable; after a crash, the same ranges,
 * which {@link io.journalq.server.journal.WalReplay} writes again. It must not know journals: it covers directories of
 * segment files, whose owners report up to where they are synced
 * ({@link io.journalq.server.journal.wal.CoveredJournal}).
 *
 * <p>The files are {@code write-ahead/<number>.wal} in the data directory. Each has its full size from the beginning,
 * so that a sync writes data and nothing else. {@link io.journalq.server.journal.wal.WriteAheadFormat} describes their
 * content. They are used in turn. A file is reused once every journal with data in it is synced beyond that data.
 */
package io.journalq.server.journal.wal;
