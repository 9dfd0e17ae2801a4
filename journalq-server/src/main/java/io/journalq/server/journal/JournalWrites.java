package io.journalq.server.journal;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.List;

/** Observes the writes of a journal, and keeps copies of them that a restart writes again. */
@FunctionalInterface
public interface JournalWrites {
    /**
     * Called on the owner's thread, right after a range of a segment was written. Must not throw.
     *
     * @param position in the segment's file, in bytes
     * @param endOffset the new end of the log
     * @param batches the written batches, back to back; valid during the call
     */
    void onWritten(long segmentBaseOffset, int position, long endOffset, List<ByteBuf> batches);

    /**
     * Called before records are removed from the end of the log, or all of them because another log may get its place.
     * When this returns, the copies made until now are never written again, even if the machine loses power. By default
     * they could be, so nothing may be removed. Blocks.
     *
     * @param offset the offset to which the log is truncated
     * @throws IOException if that cannot be guaranteed
     */
    default void beforeTruncation(long offset) throws IOException {
        throw new IOException("copies of the records at and behind offset " + offset + " could come back");
    }

    /** Called after records were removed: the log now ends at {@code endOffset}. */
    default void onTruncated(long endOffset) {}
}
