package io.journalq.server.journal.compaction;

/**
 * The result of one compaction.
 *
 * @param readSizeBytes size of the segments that were read, counted once for each pass
 * @param freedSizeBytes the number of bytes by which the log shrank
 * @param passes the number of passes over the log: more than one if the keys did not fit into memory
 */
public record CompactionResult(long readSizeBytes, long freedSizeBytes, int passes) {}
