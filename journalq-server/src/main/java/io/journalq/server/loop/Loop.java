package io.journalq.server.loop;

/**
 * The one thread of a shard, as far as the shard can tell: {@link EventLoops} makes it an event loop with sockets, a
 * simulation steps it by hand. Its time is the one that the shard's intervals are measured in.
 */
public interface Loop {
    /** Whether the caller is on this loop. Any thread. */
    boolean inLoop();

    /**
     * Runs {@code work} in a later iteration. Any thread.
     *
     * @throws java.util.concurrent.RejectedExecutionException when the loop has stopped
     */
    void execute(Runnable work);

    /** Runs {@code work} at the end of this iteration. On the loop. */
    void afterIteration(Runnable work);

    /** Runs {@code work} once, on the loop, when {@code delayMs} milliseconds have passed. Any thread. */
    Timer schedule(Runnable work, long delayMs);

    /** Nanoseconds since some moment, the same one for as long as the loop lives. Any thread. */
    long nanoTime();

    /** Work that waits for its time. */
    @FunctionalInterface
    interface Timer {
        /** The work is not wanted any more; nothing happens when it has run. Any thread. */
        void cancel();
    }
}
