package io.journalq.server.shard.append;

import io.journalq.common.record.DecompressionRoom;
import io.journalq.common.record.YieldPoint;
import io.netty.buffer.PooledByteBufAllocator;
import java.time.Clock;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Runs the validation of large batches on threads that may block, in the order of their arrival. The number of
 * concurrent validations is limited, because each may use as much memory as a topic allows for a decompressed batch.
 * That memory is reused, and released when it was not needed for a while. Each partition has at most one validation
 * here. Any thread.
 */
public final class OffLoopBatchValidator {
    private static final long KEPT_FOR_MS = 60_000;

    private final int maxInlineBytes;
    private final Executor blockingPool;
    private final int mostAtOnce;
    private final Clock clock;
    private final Queue<Consumer<DecompressionRoom>> waiting = new ConcurrentLinkedQueue<>();

    /** Number of waiting and running validations. As many run as allowed. */
    private final AtomicInteger unfinished = new AtomicInteger();

    /** The most recently used comes first. */
    private final Deque<IdleRoom> idle = new ConcurrentLinkedDeque<>();

    /**
     * Creates a validator without work.
     *
     * @param maxInlineBytes maximum size of a decompressed batch that a loop validates itself
     * @param mostAtOnce maximum number of concurrent validations
     */
    public OffLoopBatchValidator(int maxInlineBytes, Executor blockingPool, int mostAtOnce, Clock clock) {
        this.maxInlineBytes = maxInlineBytes;
        this.blockingPool = blockingPool;
        this.mostAtOnce = mostAtOnce;
        this.clock = clock;
    }

    private record IdleRoom(DecompressionRoom room, long sinceMs) {}

    /** Maximum size of a decompressed batch that a loop validates itself. */
    int maxInlineBytes() {
        return maxInlineBytes;
    }

    /** @param validation must not throw, and must not keep any data in the room that is passed to it */
    void add(Consumer<DecompressionRoom> validation) {
        waiting.add(validation);
        if (unfinished.getAndIncrement() < mostAtOnce) {
            try {
                blockingPool.execute(this::work);
            } catch (RejectedExecutionException overloaded) {
                // No other thread would run it.
                work();
            }
        }
    }

    private void work() {
        IdleRoom last = idle.pollFirst();
        DecompressionRoom room = last != null
                ? last.room()
                : DecompressionRoom.ofLarge(PooledByteBufAllocator.DEFAULT, YieldPoint.PROCESSOR);
        do {
            waiting.remove().accept(room);
        } while (unfinished.decrementAndGet() >= mostAtOnce);
        idle.addFirst(new IdleRoom(room, clock.millis()));
    }

    /** Releases memory that was not used for a minute. */
    public void releaseIdle() {
        releaseIdle(clock.millis() - KEPT_FOR_MS);
    }

    /** Releases all memory that is not in use. */
    public void close() {
        releaseIdle(Long.MAX_VALUE);
    }

    private void releaseIdle(long unusedSinceMs) {
        for (IdleRoom last = idle.pollLast(); last != null; last = idle.pollLast()) {
            if (last.sinceMs() > unusedSinceMs) {
                idle.addLast(last);
                return;
            }
            last.room().close();
        }
    }
}
