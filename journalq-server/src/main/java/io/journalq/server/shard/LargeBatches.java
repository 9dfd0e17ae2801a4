package io.journalq.server.shard;

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
 * Has batches checked by threads that may block: in the order in which they come, and only so many at a time, as each may
 * take as much memory as a topic allows a decompressed batch. That memory is kept from one to the next, until there have been
 * none for a while. Each partition has at most one here. Any thread.
 */
final class LargeBatches {
    private static final long KEPT_FOR_MS = 60_000;

    private final int maxInlineBytes;
    private final Executor blockingPool;
    private final int mostAtOnce;
    private final Clock clock;
    private final Queue<Consumer<DecompressionRoom>> waiting = new ConcurrentLinkedQueue<>();

    /** Those that wait and those that run; of these there are always as many as there may be. */
    private final AtomicInteger unfinished = new AtomicInteger();

    /** The last used comes first. */
    private final Deque<IdleRoom> idle = new ConcurrentLinkedDeque<>();

    /** @param maxInlineBytes the largest batch, decompressed, that a loop looks into itself */
    LargeBatches(int maxInlineBytes, Executor blockingPool, int mostAtOnce, Clock clock) {
        this.maxInlineBytes = maxInlineBytes;
        this.blockingPool = blockingPool;
        this.mostAtOnce = mostAtOnce;
        this.clock = clock;
    }

    private record IdleRoom(DecompressionRoom room, long sinceMs) {}

    /** Those beyond belong here, in bytes. */
    int maxInlineBytes() {
        return maxInlineBytes;
    }

    /** @param check must not throw, and leaves nothing in the room that it is given */
    void add(Consumer<DecompressionRoom> check) {
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
        IdleRoom last = idle.pollFirst();
        DecompressionRoom room = last != null
                ? last.room()
                : DecompressionRoom.ofLarge(PooledByteBufAllocator.DEFAULT, YieldPoint.PROCESSOR);
        do {
            waiting.remove().accept(room);
        } while (unfinished.decrementAndGet() >= mostAtOnce);
        idle.addFirst(new IdleRoom(room, clock.millis()));
    }

    /** Gives back memory that was kept and not used for a minute. */
    void releaseIdle() {
        releaseIdle(clock.millis() - KEPT_FOR_MS);
    }

    /** Gives back all memory that is kept and not in use. */
    void close() {
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
