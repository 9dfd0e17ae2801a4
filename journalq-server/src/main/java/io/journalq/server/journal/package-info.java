/**
 * Journals: one append-only log of record batches per partition, stored in files.
 *
 * <p>In: validated batches from the partition's owner loop, offsets to read from, retention limits. Out: slices of
 * whole batches that can go to a socket unchanged, offsets by time, the durable offset. A journal must not know
 * requests, connections, topic names, leaders or groups: it is a directory, and only its owner knows what it is for.
 * The sub-packages hold its parts, which do not know the journal: files, segments, reading, compaction, aborted
 * transactions.
 *
 * <p>A journal's directory holds these files:
 *
 * <ul>
 *   <li>{@code <base offset>.log} for each segment: batches of magic 2 back to back, possibly followed by zeros. The
 *       name ends in {@code .tail} until all data before the segment is synced.
 *   <li>{@code <base offset>.index} for each segment: a sparse index of offset, position and largest timestamp before
 *       it. One file serves lookups by offset and by time.
 *   <li>{@code <offset>.snapshot}: producer state as of that offset.
 *   <li>{@code <base offset>.txnindex} for segments with aborted transactions, see
 *       {@link io.journalq.server.journal.transaction.TransactionIndex}.
 *   <li>{@code journal.checkpoint}: segments, sizes, leader epochs, start offset and high watermark as of the last flush
 *       that wrote it.
 * </ul>
 *
 * <p>Every format of the journal itself begins with a magic number and a version, and has a CRC.
 *
 * <p>When a journal is opened, a segment of the size given by the checkpoint is trusted without being read, because the
 * checkpoint is written after the data is synced. The data behind the checkpoint is read, and the header, offset and
 * CRC of every batch is checked:
 *
 * <ul>
 *   <li>In the newest segment, a bad tail is removed. So is data behind a position that a power loss kept from reaching
 *       the disk ({@link io.journalq.server.journal.ShutdownMarker} distinguishes a power loss from a kill).
 *   <li>Bad bytes that are followed by healthy batches, and any bad bytes in older segments, stay in the file. They are
 *       logged with file and position, and excluded from reads. Consumers see a gap in the offsets, as after
 *       compaction.
 *   <li>An impossible leader epoch is corrected in place ({@link io.journalq.server.journal.segment.EpochCheck}
 *       describes which ones are found).
 * </ul>
 *
 * <p>Recovery deletes or rewrites nothing else.
 *
 * <p>Compaction rewrites segments without superseded records; {@link io.journalq.server.journal.segment.SegmentSwap}
 * describes how the files change without risk of loss in a crash. Records keep their offsets, so compaction leaves
 * gaps, also between segments, and may leave a segment empty.
 *
 * <p>Threads: a {@link io.journalq.server.journal.Journal} belongs to one loop thread. Methods that block or may be
 * called on any thread are marked. Background work runs on the executor that the journal was opened with.
 */
package io.journalq.server.journal;
