/**
 * The aborted transactions of a journal, in memory and in files. Read-committed consumers need them.
 *
 * <p>In: aborted transactions in the order of their markers. Out: those that overlap a range of offsets. It must not
 * know which transactions are open: the partition tracks these.
 */
package io.journalq.server.journal.transaction;
