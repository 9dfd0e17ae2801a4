/**
 * Segments: the files of record batches that a journal is made of, each with its sparse index, and how one is found
 * healthy, cut, read and replaced.
 *
 * <p>In: a {@link io.journalq.server.journal.file.FileStore} and positions. Out: batches, and what of a file holds none.
 * It must not know the journal that lists the segments, its checkpoint or its settings. Who may call what, and from which
 * thread, stands at {@link io.journalq.server.journal.segment.Segment}.
 */
package io.journalq.server.journal.segment;
