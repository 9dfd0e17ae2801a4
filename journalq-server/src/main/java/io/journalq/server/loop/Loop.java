package io.journalq.server.loop;

/**
 * The thread of a shard, as the shard sees it. {@link EventLoops} implements it with an event loop that has sockets,
 * and a simulation steps it. All intervals of the shard are measured by its time.
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

    /** Runs {@code work} once, on the loop, after {@code delayMs} milliseconds. Any thread. */
    Timer schedule(Runnable work, long delayMs);

    /** Nanoseconds since a fixed moment in the lifetime of the loop. Any thread. */
    long nanoTime();

    /** Scheduled work. */
    @FunctionalInterface
    interface Timer {
        /** Cancels the work. Has no effect if the work has run. Any thread. */
        void cancel();
    }
}
