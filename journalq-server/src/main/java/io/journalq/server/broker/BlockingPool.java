package io.journalq.server.broker;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads for operations that block, such as disk reads and fsyncs. The queue is bounded; work beyond the bound is
 * rejected, and so is work for which there is no thread.
 */
final class BlockingPool extends ThreadPoolExecutor {
    private static final int THREADS = Math.max(8, 2 * Runtime.getRuntime().availableProcessors());
    private static final int MAX_QUEUED = 1_000_000;
    private static final long IDLE_SECONDS = 60;

    BlockingPool(String threadName) {
        super(THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(MAX_QUEUED));
        AtomicInteger number = new AtomicInteger();
        setThreadFactory(work -> {
            Thread thread = new Thread(work, threadName + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
        allowCoreThreadTimeOut(true);
    }

    @Override
    public void execute(Runnable work) {
        try {
            super.execute(work);
        } catch (OutOfMemoryError noThread) {
            // Those who pass work are ready for a rejection, and would otherwise wait for the end of the work forever.
            if (!isQueued(work)) {
                throw new RejectedExecutionException("no thread can be created", noThread);
            }
        }
    }

    /** Leaves work to the threads that there are; returns whether there is one. The last one may just be ending. */
    private boolean isQueued(Runnable work) {
        return getPoolSize() > 0 && getQueue().offer(work) && (getPoolSize() > 0 || !remove(work));
    }

    /**
     * Rejects further work, and waits for the work that was accepted.
     *
     * @return whether all of it finished in time
     */
    boolean drain(long timeoutMs) {
        shutdown();
        try {
            return awaitTermination(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
