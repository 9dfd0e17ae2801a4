/**
 * Write-ahead files: what partitions of one data folder write is written here a second time, all together, so that one sync
 * makes all of it durable at once. The journals' own files are synced later.
 *
 * <p>In: stretches of segment files as they were written. Out: whether they are on the disk now; after a crash, the same
 * stretches, for {@link io.journalq.server.journal.WalReplay} to write once more. It must not know what a journal is: a
 * folder of segment files is covered, and says itself up to where it is synced ({@link
 * io.journalq.server.journal.wal.Covered}).
 *
 * <p>The files lie in the data folder's {@code write-ahead}, {@code <number>.wal}, each of its full size from the beginning,
 * so that a sync has data to write and nothing else. {@link io.journalq.server.journal.wal.WriteAheadFormat} says what is in
 * them. They are used in turn; one is used again once every journal with something in it is synced beyond that.
 */
package io.journalq.server.journal.wal;
