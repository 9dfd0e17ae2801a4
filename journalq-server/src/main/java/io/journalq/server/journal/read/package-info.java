/**
 * Reading of a list of segments: slices of whole batches for consumers, and look-ups by time.
 *
 * <p>In: segments, an offset or a time, bounds. Out: {@link io.journalq.server.journal.read.JournalSlice}s that can go to a
 * socket unchanged. It must not know how segments come and go. {@code JournalReads} belongs to the journal's owner and
 * never waits for the disk; {@code JournalSearch} does, on any thread.
 */
package io.journalq.server.journal.read;
