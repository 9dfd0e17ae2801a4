/**
 * Who has a data directory, and whose it is: one broker at a time, and always the same one. In come the paths of data
 * directories; out go locks that the operating system gives back when their process ends, what the holder of one says
 * about itself, for other processes to read, and whether the directories belong to this broker and its cluster. Knows files
 * and processes, and of what the directories hold only the names.
 */
package io.journalq.server.folder;
