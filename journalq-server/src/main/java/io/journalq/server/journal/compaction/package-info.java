/**
 * Compaction of one log: which records are superseded, and how segments are written anew without them.
 *
 * <p>In: a {@link io.journalq.server.journal.compaction.CompactedLog} and a {@link
 * io.journalq.server.journal.compaction.CompactionJob}. Out: segments in the place of others. {@link
 * io.journalq.server.journal.compaction.JournalCompaction} goes through the segments; what it asks ({@code BatchCleaner},
 * {@code TransactionEnds}, {@code KeyOffsets}) decides by batches alone and knows no file. Which log is worth compacting,
 * and when, is decided elsewhere; the time is given to it. One thread that may block.
 */
package io.journalq.server.journal.compaction;
