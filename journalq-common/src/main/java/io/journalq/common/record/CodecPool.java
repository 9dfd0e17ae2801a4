package io.journalq.common.record;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A bounded pool of codec contexts, which own native memory. Thread-local contexts would lose that memory when a thread
 * ends, and would need one context per virtual thread. Any thread.
 */
final class CodecPool<T> {
    private static final int MAX_IDLE = 64;

    private final ArrayBlockingQueue<T> idle = new ArrayBlockingQueue<>(MAX_IDLE);
    private final Supplier<T> create;
    private final Consumer<T> close;

    CodecPool(Supplier<T> create, Consumer<T> close) {
        this.create = create;
        this.close = close;
    }

    T take() {
        T context = idle.poll();
        return context != null ? context : create.get();
    }

    void giveBack(T context) {
        if (!idle.offer(context)) {
            close.accept(context);
        }
    }

    /** Discards a context that has failed and can be in any state. */
    void discard(T context) {
        close.accept(context);
    }
}
