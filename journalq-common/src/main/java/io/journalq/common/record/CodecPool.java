package io.journalq.common.record;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Codec contexts between two uses. They own native memory that a thread-local would lose when its thread ends, and
 * would multiply by the number of virtual threads; a bounded pool does neither. Any thread.
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

    /** For a context that failed and may be in any state. */
    void discard(T context) {
        close.accept(context);
    }
}
