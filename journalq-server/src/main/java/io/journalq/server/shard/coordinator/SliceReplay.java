package io.journalq.server.shard.coordinator;

import io.journalq.common.protocol.BadFrameException;
import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.RecordTypes;
import io.journalq.server.store.CoordinatorSlice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Replays a stored slice into a machine that nobody else knows yet. Any thread; blocks. */
final class SliceReplay {
    private SliceReplay() {}

    /**
     * Replays everything.
     *
     * @param endOffset where the journal ends: a slice that reaches beyond has outlived what the journal lost
     * @return the offset from which on the journal is to be replayed, {@link CoordinatorSlice#NOTHING} for its beginning
     * @throws IOException when the slice is of no use; the machine may have taken in a part of it
     */
    static long replay(CoordinatorSlice slice, long endOffset, RecordTypes types, CoordinatorMachine machine)
            throws IOException {
        long appliedOffset = slice.appliedOffset();
        if (appliedOffset == CoordinatorSlice.NOTHING) {
            return appliedOffset;
        }
        if (appliedOffset > endOffset) {
            throw new IOException("stored up to offset " + appliedOffset + ", but the journal ends at " + endOffset);
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

    /** Shows buffers as decoders want them: a slice shows a million records in the same buffer. */
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
