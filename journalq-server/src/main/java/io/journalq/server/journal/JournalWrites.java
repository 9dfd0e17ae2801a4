package io.journalq.server.journal;

import io.netty.buffer.ByteBuf;
import java.util.List;

/** Observes the writes of a journal on the owner's thread, right after the data is in the file. Must not throw. */
@FunctionalInterface
public interface JournalWrites {
    /**
     * Called after a range of a segment was written.
     *
     * @param position in the segment's file, in bytes
     * @param endOffset the new end of the log
     * @param batches the written batches, back to back; valid during the call
     */
    void onWritten(long segmentBaseOffset, int position, long endOffset, List<ByteBuf> batches);
}
