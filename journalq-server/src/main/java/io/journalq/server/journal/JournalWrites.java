package io.journalq.server.journal;

import io.netty.buffer.ByteBuf;
import java.util.List;

/** Sees what a journal writes, right after it is in the file, on the owner's thread. It must not fail. */
@FunctionalInterface
public interface JournalWrites {
    /**
     * A stretch of a segment was written.
     *
     * @param position where in the segment's file, in bytes
     * @param endOffset where it ends now
     * @param batches what stands there, back to back; valid during the call
     */
    void onWritten(long segmentBaseOffset, int position, long endOffset, List<ByteBuf> batches);
}
