/**
 * Ownership of data directories: only one broker may use a directory at a time, and it is always the same broker.
 *
 * <p>In: the paths of the data directories. Out: locks, which the operating system releases when the process ends; the
 * holder of a directory, for other processes; and whether the directories belong to this broker and its cluster, and
 * are still there. Knows files and processes. Knows only the names of the contents of the directories.
 */
package io.journalq.server.directory;
