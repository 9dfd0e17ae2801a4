/**
 * The files of journals: the port through which everything durable goes, the real file system, and one in memory.
 *
 * <p>In: paths and bytes. Out: bytes, and the two ways in which they can be of no use: damaged, or of a newer release. It
 * knows nothing of what stands in a file. A {@link io.journalq.server.journal.file.FileStore} is for any thread.
 */
package io.journalq.server.journal.file;
