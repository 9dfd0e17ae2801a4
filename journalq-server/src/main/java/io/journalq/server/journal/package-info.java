/**
 * Journals: one append-only log of record batches per partition, on files.
 *
 * <p>In: validated batches from the partition's owner loop, offsets to read from, retention limits. Out: slices of whole
 * batches that can go to a socket unchanged, offsets by time, the flushed offset. It must not know requests, connections,
 * topics' names, leaders or groups: a journal is a directory, and whoever opens it knows why. The packages below hold its
 * parts, which do not know it: files, segments, reading, compaction, aborted transactions.
 *
 * <p>A journal's directory holds, per segment, {@code <base offset>.log} (batches of magic 2 back to back, possibly with
 * zeros behind them; {@code <base offset>.tail} until all before it is synced) and {@code <base offset>.index} (sparse: offset, position, largest timestamp before it; one file
 * serves look-ups by offset and by time); {@code <offset>.snapshot} (producer state as of that offset); where transactions were
 * aborted, {@code <base offset>.txnindex} (see {@link io.journalq.server.journal.transaction.TransactionIndex}); and one
 * {@code journal.checkpoint}: segments, sizes, leader epochs and start offset as of the last flush that wrote it. Every
 * one of the journal's own formats begins with a magic number and a version and carries a CRC.
 *
 * <p>Opening trusts a segment whose size is the one in the checkpoint, without reading it: the checkpoint is written after
 * the data are flushed. What lies behind the checkpoint is read, and every batch's header, offset and CRC checked. In
 * the newest segment a bad tail is cut, and so is what a power loss left behind something that was never on the disk ({@link
 * io.journalq.server.journal.RunMark} tells a power loss from a kill); a bad stretch with healthy batches behind it, and anything bad in an older
 * segment, stays in its file, is logged with file and position, and is left out of reads: consumers see a gap in the
 * offsets, as after compaction. A leader epoch that cannot be right is mended in place ({@link
 * io.journalq.server.journal.segment.EpochCheck} says what is found). Nothing else is ever deleted or rewritten.
 *
 * <p>Compaction writes segments anew without what is superseded; {@link io.journalq.server.journal.segment.SegmentSwap} says how
 * files change so that a crash loses nothing. Offsets stay, so that they leave gaps, also between segments; a segment may
 * become empty.
 *
 * <p>Threads: {@link io.journalq.server.journal.Journal} belongs to one loop thread; what may block and is safe on any
 * thread says so. Housekeeping goes to the executor that the journal was opened with.
 */
package io.journalq.server.journal;
