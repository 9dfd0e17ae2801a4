package io.journalq.common.record;

/**
 * Passed between pieces of long work, of some tens of microseconds each, by the thread that does it. A system's scheduler
 * may leave a thread that computes on its processor for milliseconds, while one that answers clients waits for it.
 */
@FunctionalInterface
public interface YieldPoint {
    /** For short work, and for threads that nobody waits for. */
    YieldPoint NONE = () -> {};

    /** Lets a thread that waits for the processor have it. */
    YieldPoint PROCESSOR = Thread::yield;

    /** Must not throw. */
    void pass();
}
