package io.journalq.server.journal.compaction;

/**
 * What one compaction did.
 *
 * @param readSizeBytes size of the segments that it went through, once for each pass
 * @param freedSizeBytes by how much smaller the log became
 * @param passes how often it went through the log: more than once when the keys did not fit into memory
 */
public record CompactionResult(long readSizeBytes, long freedSizeBytes, int passes) {}
