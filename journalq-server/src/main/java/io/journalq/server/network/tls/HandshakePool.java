package io.journalq.server.network.tls;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs the expensive steps of TLS handshakes, such as signatures and checks of certificates, so that a storm of new
 * connections does not delay the requests of others. Any thread.
 *
 * <p>The queue is bounded. When it is full, a step is rejected, and its connection is closed. A step never runs on the
 * thread of its caller, which is an event loop.
 */
public final class HandshakePool implements Executor, AutoCloseable {
    private static final int CORES_FOR_EACH_THREAD = 4;
    private static final int MAX_QUEUED_STEPS = 512;
    private static final long IDLE_THREAD_SECONDS = 30;

    private final ThreadPoolExecutor threads;

    public HandshakePool() {
        this(Math.max(1, Runtime.getRuntime().availableProcessors() / CORES_FOR_EACH_THREAD), MAX_QUEUED_STEPS);
    }

    HandshakePool(int threadCount, int maxQueuedSteps) {
        threads = new ThreadPoolExecutor(
                threadCount,
                threadCount,
                IDLE_THREAD_SECONDS,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(maxQueuedSteps),
                new DefaultThreadFactory("journalq-handshake", true));
        threads.allowCoreThreadTimeOut(true);
    }

    /** @throws java.util.concurrent.RejectedExecutionException when the queue is full */
    @Override
    public void execute(Runnable step) {
        threads.execute(step);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
