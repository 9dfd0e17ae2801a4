package io.journalq.server.shard;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Has batches checked by threads that may block: in the order in which they come, and only so many at a time, as each may
 * take as much memory as a topic allows a decompressed batch. Each partition has at most one here. Any thread.
 */
final class LargeBatches {
    private final int maxInlineBytes;
    private final Executor blockingPool;
    private final int mostAtOnce;
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

    /** Those that wait and those that run; of these there are always as many as there may be. */
    private final AtomicInteger unfinished = new AtomicInteger();

    /** @param maxInlineBytes the largest batch, decompressed, that a loop looks into itself */
    LargeBatches(int maxInlineBytes, Executor blockingPool, int mostAtOnce) {
        this.maxInlineBytes = maxInlineBytes;
        this.blockingPool = blockingPool;
        this.mostAtOnce = mostAtOnce;
    }

    /** Those beyond belong here, in bytes. */
    int maxInlineBytes() {
        return maxInlineBytes;
    }

    /** @param check must not throw */
    void add(Runnable check) {
        waiting.add(check);
        if (unfinished.getAndIncrement() < mostAtOnce) {
            try {
                blockingPool.execute(this::work);
            } catch (RejectedExecutionException overloaded) {
                // Late is better than never, and nobody else would do it.
                work();
            }
        }
    }

    private void work() {
        do {
            waiting.remove().run();
        } while (unfinished.decrementAndGet() >= mostAtOnce);
    }
}
