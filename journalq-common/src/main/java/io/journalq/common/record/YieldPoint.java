package io.journalq.common.record;

/**
 * Called between the pieces of long work, by the thread that does the work.
 * Without it, the scheduler can leave a computing thread on its processor for milliseconds, while a thread that has to
 * respond to clients waits for that processor.
 */
@FunctionalInterface
public interface YieldPoint {
    /** Does nothing. For short work, and for threads that delay no other thread. */
    YieldPoint NONE = () -> {};

    /** Yields the processor to a waiting thread. */
    YieldPoint PROCESSOR = Thread::yield;

    /** Called between two pieces. Must not throw. */
    void pass();
}
