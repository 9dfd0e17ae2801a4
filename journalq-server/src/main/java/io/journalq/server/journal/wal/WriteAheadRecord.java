package io.journalq.server.journal.wal;

import java.nio.ByteBuffer;

/**
 * A stretch of a segment file, as a write-ahead file holds it.
 *
 * @param sequence counts the records of a data folder, without gaps within a file
 * @param folder name of the journal's folder
 * @param segmentBaseOffset which segment it belongs to
 * @param position where it stands in the segment, in bytes
 * @param endOffset offset behind its last batch
 * @param data one or more whole batches; valid during the call that shows it
 */
public record WriteAheadRecord(
        long sequence, String folder, long segmentBaseOffset, int position, long endOffset, ByteBuffer data) {}
