package io.journalq.client;

import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.client.error.BufferExhaustedException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Calls an {@link Admin} without blocking the caller. Every method of the admin can be used:
 *
 * <pre>{@code
 * CompletableFuture<List<TopicListing>> topics = admin.async().call(Admin::listTopics);
 * CompletableFuture<Void> created = admin.async().run(a -> a.createTopic(NewTopic.of("orders", 8)));
 * }</pre>
 *
 * <p>The calls run on daemon threads of the admin, at most {@value #MAX_THREADS} at a time. Up to {@value #MAX_WAITING}
 * more wait for a thread, in the order in which they were made; the future of any further call fails with {@link
 * BufferExhaustedException}. The threads start with the first call and end when they have been idle for 10 s. A future
 * fails with the exception that the method throws, and completes on the thread that ran the call.
 *
 * <p>Thread-safe. {@link Admin#close()} also ends this object: then the calls that are in progress or wait fail with {@link
 * io.journalq.client.error.ClientClosedException}.
 */
public final class AsyncAdmin {
    private static final int MAX_THREADS = 8;
    private static final int MAX_WAITING = 1_000;
    private static final int IDLE_SECONDS = 10;

    private final Admin admin;
    private final ThreadPoolExecutor threads;

    AsyncAdmin(Admin admin) {
        this.admin = admin;
        AtomicInteger created = new AtomicInteger();
        this.threads = new ThreadPoolExecutor(
                MAX_THREADS,
                MAX_THREADS,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(MAX_WAITING),
                task -> {
                    Thread thread = new Thread(task, "journalq-admin-" + created.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Makes a call that returns a value.
     *
     * @return completes with the value
     */
    public <R> CompletableFuture<R> call(Function<? super Admin, ? extends R> call) {
        admin.requireOpen();
        notNull(call, "call");
        CompletableFuture<R> result = new CompletableFuture<>();
        try {
            threads.execute(() -> complete(result, call));
        } catch (RejectedExecutionException e) {
            admin.requireOpen();
            result.completeExceptionally(new BufferExhaustedException(
                    MAX_WAITING + " calls of this admin wait already; call less often", e));
        }
        return result;
    }

    /**
     * Makes a call without a value.
     *
     * @return completes with null
     */
    public CompletableFuture<Void> run(Consumer<? super Admin> call) {
        admin.requireOpen();
        notNull(call, "call");
        return call(used -> {
            call.accept(used);
            return null;
        });
    }

    /** Ends the threads after the calls that wait, which fail at once because the admin is closed. */
    void close() {
        threads.shutdown();
    }

    private <R> void complete(CompletableFuture<R> result, Function<? super Admin, ? extends R> call) {
        if (result.isDone()) {
            return;
        }
        try {
            result.complete(call.apply(admin));
        } catch (Throwable e) {
            result.completeExceptionally(e);
        }
    }
}
