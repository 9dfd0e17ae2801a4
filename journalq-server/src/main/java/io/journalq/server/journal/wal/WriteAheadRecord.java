package io.journalq.server.journal.wal;

import java.nio.ByteBuffer;

/**
 * A range of a segment file, or a cut of a journal, as stored in a write-ahead file.
 *
 * @param sequence numbers the records of a data directory, without gaps within a file
 * @param directory name of the journal's directory
 * @param segmentBaseOffset of its segment
 * @param position in the segment, in bytes
 * @param endOffset offset behind its last batch; for a cut, the offset to which the journal is truncated
 * @param data one or more whole batches, none for a cut; valid during the call that passes it
 */
public record WriteAheadRecord(
        long sequence, String directory, long segmentBaseOffset, int position, long endOffset, ByteBuffer data) {
    /** Whether the earlier records of the journal are void. */
    public boolean isCut() {
        return data.capacity() == 0;
    }
}
