package io.journalq.server.store;

import io.journalq.common.id.Uuid;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The stored state of one coordinator, that is of one partition of an internal topic. One thread at a time. Every call
 * may block.
 */
public interface CoordinatorSlice {
    /** No records were applied yet. */
    long NOTHING = -1L;

    /** The leader epoch of the last record is not stored. */
    int UNKNOWN_EPOCH = -1;

    /** Stores nothing: the journal is replayed from its beginning. */
    CoordinatorSlice NONE = new CoordinatorSlice() {
        @Override
        public long appliedOffset() {
            return NOTHING;
        }

        @Override
        public int appliedEpoch() {
            return UNKNOWN_EPOCH;
        }

        @Override
        public void forEach(Visitor visitor) {
            // Nothing is stored.
        }

        @Override
        public void apply(List<Change> changes, long appliedOffset, int appliedEpoch) {
            // The journal has the records.
        }

        @Override
        public void wipe() {
            // Nothing is stored.
        }
    };

    /** Receives records. */
    @FunctionalInterface
    interface Visitor {
        /**
         * Receives one record, from the buffers' positions to their limits. The buffers are valid only during the call.
         */
        void visit(ByteBuffer key, ByteBuffer value);
    }

    /**
     * The newest record of a key. The arrays must not be modified.
     *
     * @param key as it stands in the journal
     * @param value as it stands in the journal; null when the key was deleted
     */
    @SuppressWarnings("ArrayRecordComponent") // A data holder that is never compared.
    record Change(byte[] key, byte[] value) {}

    /** Provides the stored state of each coordinator. Any thread; may block. */
    @FunctionalInterface
    interface Provider {
        /** Stores nothing. */
        Provider NONE = (topicId, partition) -> CoordinatorSlice.NONE;

        /** The stored state of the coordinator of one partition of an internal topic. */
        CoordinatorSlice slice(Uuid topicId, int partition);
    }

    /** Every record of the journal before this offset is stored; {@link #NOTHING} if none is. */
    long appliedOffset() throws IOException;

    /**
     * The leader epoch of the record before {@link #appliedOffset}; {@link #UNKNOWN_EPOCH} for a slice of a release that
     * does not store it. If the journal has another epoch there, it has lost records that are stored here.
     */
    int appliedEpoch() throws IOException;

    /** Passes every record to {@code visitor}, in no particular order. */
    void forEach(Visitor visitor) throws IOException;

    /**
     * Applies changes in order, together with the offset up to which they reach. Atomic.
     *
     * @param appliedEpoch the leader epoch of the last record before that offset
     */
    void apply(List<Change> changes, long appliedOffset, int appliedEpoch) throws IOException;

    /**
     * Deletes everything durably. If a power loss restored old state, it could be combined with a journal that has
     * received different records since.
     */
    void wipe() throws IOException;
}
