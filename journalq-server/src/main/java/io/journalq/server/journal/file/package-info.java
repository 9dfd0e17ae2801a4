/**
 * The files of journals: the port for all durable data, with an implementation for the real file system and one in
 * memory.
 *
 * <p>In: paths and bytes. Out: bytes, or one of two failures: the file is damaged, or written by a newer release. The
 * package knows no file content. A {@link io.journalq.server.journal.file.FileStore} may be used by any thread.
 */
package io.journalq.server.journal.file;
