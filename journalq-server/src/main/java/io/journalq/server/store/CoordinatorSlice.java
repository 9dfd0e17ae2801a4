package io.journalq.server.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** What is stored of one coordinator: one partition of an internal topic. One thread at a time; every call may block. */
public interface CoordinatorSlice {
    /** Nothing was ever applied. */
    long NOTHING = -1L;

    /** Holds nothing and keeps nothing: the journal is replayed from its beginning. */
    CoordinatorSlice NONE = new CoordinatorSlice() {
        @Override
        public long appliedOffset() {
            return NOTHING;
        }

        @Override
        public void forEach(Visitor visitor) {
            // There is nothing.
        }

        @Override
        public void apply(List<StoredChange> changes, long appliedOffset) {
            // The journal has it.
        }

        @Override
        public void wipe() {
            // There is nothing.
        }
    };

    /** Sees records. */
    @FunctionalInterface
    interface Visitor {
        /** One record, from the buffers' positions to their limits; they are valid during the call. */
        void visit(ByteBuffer key, ByteBuffer value);
    }

    /** Every record of the journal before this offset is in here; {@link #NOTHING} when none is. */
    long appliedOffset() throws IOException;

    /** Shows every record, in no order that means anything. */
    void forEach(Visitor visitor) throws IOException;

    /** Takes changes in, in order, together with how far they reach: all of it or nothing. */
    void apply(List<StoredChange> changes, long appliedOffset) throws IOException;

    /**
     * Forgets everything, for good: if a power loss brought it back, a journal that has grown with other records since would
     * be taken for the one that it was made of.
     */
    void wipe() throws IOException;
}
