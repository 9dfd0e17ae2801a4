package io.journalq.server.journal.segment;

/**
 * How far a segment reaches.
 *
 * @param baseOffset the segment's name
 * @param sizeBytes from the beginning of its log file
 * @param endOffset the offset behind its last record
 */
public record SegmentExtent(long baseOffset, int sizeBytes, long endOffset) {}
