package io.journalq.client.internal.produce;

import io.journalq.common.record.AdaptiveCompression;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A pool of batch builders for one topic. It reuses the most recently released builder, whose buffer is still in the
 * processor cache. A pool per thread would not work, because there can be any number of virtual threads. Thread-safe.
 * No other lock is acquired while its lock is held.
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

    /** A builder with the compression ratio of its recent batches. Belongs to the owner of the batch. */
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

        /** Resets the builder and returns it to the pool. */
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

    /** Closes the idle builders, and all others when they are released. */
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
