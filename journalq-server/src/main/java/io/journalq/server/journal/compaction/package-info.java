/**
 * What compaction decides: which records of a log are superseded, and what becomes of the batches that held them.
 *
 * <p>In: batches in the order of their offsets. Out: the newest offset of each key, and batches with what is left of them.
 * It must not know segments, files or threads, which are the journal's; the time is given to it.
 */
package io.journalq.server.journal.compaction;
