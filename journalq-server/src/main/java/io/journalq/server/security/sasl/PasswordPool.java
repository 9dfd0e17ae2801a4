package io.journalq.server.security.sasl;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Checks passwords on at most half of the processors. A check takes milliseconds. Any thread.
 *
 * <p>The queue is bounded. When it is full, a check is rejected, and its connection is closed. A check never runs on
 * the thread of its caller, which is an event loop.
 */
public final class PasswordPool implements Executor, AutoCloseable {
    private static final int CORES_FOR_EACH_THREAD = 2;
    private static final int MAX_QUEUED_CHECKS = 512;
    private static final long IDLE_THREAD_SECONDS = 30;

    private final ThreadPoolExecutor threads;

    public PasswordPool() {
        this(Math.max(1, Runtime.getRuntime().availableProcessors() / CORES_FOR_EACH_THREAD), MAX_QUEUED_CHECKS);
    }

    PasswordPool(int threadCount, int maxQueuedChecks) {
        threads = new ThreadPoolExecutor(
                threadCount,
                threadCount,
                IDLE_THREAD_SECONDS,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(maxQueuedChecks),
                new DefaultThreadFactory("journalq-password", true));
        threads.allowCoreThreadTimeOut(true);
    }

    /** @throws java.util.concurrent.RejectedExecutionException when the queue is full */
    @Override
    public void execute(Runnable check) {
        threads.execute(check);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
