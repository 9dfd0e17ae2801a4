/**
 * The aborted transactions of a journal, in memory and in files. Readers of committed records must know them.
 *
 * <p>In: ends of aborted transactions in the order of the log. Out: those that a range of offsets touches. It must not
 * know which transactions are open: that is the partition's.
 */
package io.journalq.server.journal.transaction;
