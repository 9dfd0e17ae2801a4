package io.journalq.server.shard.coordinator;

import io.journalq.common.protocol.BadFrameException;
import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.RecordTypes;
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
     * @param endOffset end of the journal: a slice that reaches beyond it contains records that the journal has lost
     * @return the offset from which the journal must be replayed, {@link CoordinatorSlice#NOTHING} for its beginning
     * @throws IOException if the slice cannot be used; the machine may have replayed a part of it
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
