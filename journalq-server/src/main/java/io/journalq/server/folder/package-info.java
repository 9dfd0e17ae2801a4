/**
 * Who has a data folder: one broker at a time. In come the paths of data folders; out go locks that the operating system
 * gives back when their process ends, and what the holder of one says about itself, for other processes to read. Knows
 * files and processes, and nothing of what the folders hold.
 */
package io.journalq.server.folder;
