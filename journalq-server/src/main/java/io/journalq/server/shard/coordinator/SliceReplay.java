package io.journalq.server.shard.coordinator;

import io.journalq.common.protocol.BadFrameException;
import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.RecordTypes;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.store.CoordinatorSlice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Replays a stored slice into a machine that is not in use yet. Any thread; blocks. */
final class SliceReplay {
    private SliceReplay() {}

    /**
     * Replays the whole slice.
     *
     * @param journal what the journal has
     * @return the offset from which the journal must be replayed, {@link CoordinatorSlice#NOTHING} for its beginning
     * @throws IOException if the slice cannot be used; the machine may have replayed a part of it
     */
    static long replay(CoordinatorSlice slice, Extent journal, RecordTypes types, CoordinatorMachine machine)
            throws IOException {
        long appliedOffset = slice.appliedOffset();
        if (appliedOffset == CoordinatorSlice.NOTHING) {
            return appliedOffset;
        }
        String problem = journal.problem(appliedOffset, slice.appliedEpoch());
        if (problem != null) {
            throw new IOException("stored up to offset " + appliedOffset + ", but " + problem);
        }
        try {
            View keys = new View();
            View values = new View();
            slice.forEach((key, value) -> machine.replay(types.decode(keys.of(key), values.of(value))));
        } catch (BadFrameException unreadable) {
            throw new IOException(unreadable.getMessage(), unreadable);
        }
        return appliedOffset;
    }

    /**
     * What a journal has when a slice is replayed.
     *
     * @param startOffset the first offset
     * @param compactedOffset records before this were compacted, and their tombstones may be gone
     * @param endOffset behind the last record
     * @param epochs of the records
     */
    record Extent(long startOffset, long compactedOffset, long endOffset, LeaderEpochs.Entries epochs) {
        /** Why records that are stored up to {@code appliedOffset} cannot be continued by this journal; null if they can. */
        private String problem(long appliedOffset, int appliedEpoch) {
            if (appliedOffset > endOffset) {
                return "the journal ends at " + endOffset;
            }
            if (appliedOffset < Math.max(startOffset, compactedOffset)) {
                return "the journal is compacted up to " + Math.max(startOffset, compactedOffset);
            }
            int epoch = epochs.epochOf(appliedOffset - 1);
            return appliedEpoch != CoordinatorSlice.UNKNOWN_EPOCH && appliedEpoch != epoch
                    ? "the journal has leader epoch " + epoch + " there instead of " + appliedEpoch
                    : null;
        }
    }

    /** Wraps buffers for decoders. A slice passes a million records in the same buffer, so the wrapper is reused. */
    private static final class View {
        private ByteBuffer shown;
        private ByteBuf view;

        @SuppressWarnings("ReferenceEquality") // Equal content in another buffer is another buffer.
        ByteBuf of(ByteBuffer buffer) {
            if (buffer != shown) {
                shown = buffer;
                view = Unpooled.wrappedBuffer(buffer.duplicate().clear());
            }
            return view.setIndex(buffer.position(), buffer.limit());
        }
    }
}
