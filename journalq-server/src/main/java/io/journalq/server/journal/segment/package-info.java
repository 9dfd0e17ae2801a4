/**
 * Segments: the files of record batches that make up a journal, each with its sparse index. Includes their recovery,
 * truncation, reading and replacement.
 *
 * <p>In: a {@link io.journalq.server.journal.file.FileStore} and positions. Out: batches, and the ranges of a file
 * without healthy batches. It must not know the journal that lists the segments, its checkpoint or its settings.
 * {@link io.journalq.server.journal.segment.Segment} documents which thread may call which method.
 */
package io.journalq.server.journal.segment;
