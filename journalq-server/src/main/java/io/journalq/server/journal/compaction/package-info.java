/**
 * Compaction of one log: finds superseded records and rewrites segments without them.
 *
 * <p>In: a {@link io.journalq.server.journal.compaction.CompactedLog} and a
 * {@link io.journalq.server.journal.compaction.CompactionJob}. Out: segments that replace others.
 * {@link io.journalq.server.journal.compaction.JournalCompaction} processes the segments. {@code BatchCleaner},
 * {@code TransactionEnds} and {@code KeyOffsets} decide on the basis of batches alone and know no files. The caller
 * decides which log to compact and when, and passes the time. One thread that may block.
 */
package io.journalq.server.journal.compaction;
