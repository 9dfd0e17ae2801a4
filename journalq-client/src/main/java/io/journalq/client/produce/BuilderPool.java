package io.journalq.client.produce;

import io.journalq.common.record.AdaptiveCompression;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Batch builders of one topic, kept for the next batch: the last one given back goes out first, its buffer still in the
 * cache. Not one per thread, for there may be any number of virtual threads. Thread-safe; its lock is a leaf.
 */
final class BuilderPool {
    private static final int MAX_IDLE = 64;

    private final CompressionCodec codec;
    private final int initialSizeBytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Slot> idle = new ArrayDeque<>();
    private boolean closed;

    BuilderPool(CompressionCodec codec, int initialSizeBytes) {
        this.codec = codec;
        this.initialSizeBytes = initialSizeBytes;
    }

    /** One builder and what is known of how well its batches compress. Belongs to whoever took it. */
    static final class Slot {
        private final BuilderPool pool;
        private final BatchBuilder builder;
        private final AdaptiveCompression adaptive = new AdaptiveCompression();

        private Slot(BuilderPool pool) {
            this.pool = pool;
            this.builder = new BatchBuilder(ByteBufAllocator.DEFAULT, pool.codec, pool.initialSizeBytes);
        }

        BatchBuilder builder() {
            return builder;
        }

        ByteBuf build() {
            return builder.build(adaptive);
        }

        /** Gives the builder back, with whatever was in it forgotten. */
        void release() {
            builder.reset();
            pool.give(this);
        }
    }

    Slot take() {
        lock.lock();
        try {
            Slot slot = idle.pollFirst();
            return slot == null ? new Slot(this) : slot;
        } finally {
            lock.unlock();
        }
    }

    /** Frees the idle builders, and those that come back later. */
    void close() {
        lock.lock();
        try {
            closed = true;
            idle.forEach(slot -> slot.builder.close());
            idle.clear();
        } finally {
            lock.unlock();
        }
    }

    private void give(Slot slot) {
        lock.lock();
        try {
            if (!closed && idle.size() < MAX_IDLE) {
                idle.addFirst(slot);
                return;
            }
        } finally {
            lock.unlock();
        }
        slot.builder.close();
    }
}
