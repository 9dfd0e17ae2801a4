/**
 * Reads a list of segments: slices of whole batches for consumers, and lookups by time.
 *
 * <p>In: segments, an offset or a time, limits. Out: {@link io.journalq.server.journal.read.JournalSlice}s that can go
 * to a socket unchanged. It must not know how segments are created and deleted. {@code JournalReads} belongs to the
 * journal's owner and never waits for the disk. {@code JournalSearch} waits for the disk and may run on any thread.
 */
package io.journalq.server.journal.read;
