package io.journalq.server.journal.segment;

/**
 * The offsets and size of a segment.
 *
 * @param baseOffset the offset in the segment's name
 * @param sizeBytes from the beginning of its log file
 * @param endOffset the offset behind its last record
 */
public record SegmentExtent(long baseOffset, int sizeBytes, long endOffset) {}
