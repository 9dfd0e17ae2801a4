package io.journalq.client.internal.network;

import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.InterruptedWaitException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.RequestTimedOutException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Where the threads of the application wait for responses and between attempts, so that all their waits can be ended at
 * once. Thread-safe; any thread except the event loop.
 */
public final class BlockingWaits {
    private final Set<Wait> waits = ConcurrentHashMap.newKeySet();
    private volatile boolean ended;

    /** The wait of one thread. Not a record, because each wait is different from all others. */
    private static final class Wait {
        private final CompletableFuture<?> result;

        private Wait(CompletableFuture<?> result) {
            this.result = result;
        }

        private void end() {
            result.completeExceptionally(closed());
        }
    }

    /**
     * Waits for a result.
     *
     * @param what the subject of error messages, such as "the commit"
     * @throws JournalQException if the result is a failure or does not arrive in time
     */
    public <R> R join(CompletableFuture<R> result, long timeoutMs, String what) {
        try {
            return get(result, timeoutMs);
        } catch (TimeoutException e) {
            throw new RequestTimedOutException(
                    what + " did not complete within " + timeoutMs
                            + " ms; check that the broker is running, or raise requestTimeout and callTimeout",
                    e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof JournalQException known) {
                throw known;
            }
            throw new IllegalStateException(what + " failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedWaitException("interrupted while waiting for " + what, e);
        }
    }

    /** Waits for a result. If the waits end, the result fails with {@link ClientClosedException}. */
    <R> R get(CompletableFuture<R> result, long timeoutMs)
            throws TimeoutException, ExecutionException, InterruptedException {
        Wait wait = new Wait(result);
        waits.add(wait);
        try {
            if (ended) {
                wait.end();
            }
            return result.get(timeoutMs, TimeUnit.MILLISECONDS);
        } finally {
            waits.remove(wait);
        }
    }

    /** Waits before another attempt. */
    void pause(long delayMs) {
        try {
            get(new CompletableFuture<Void>(), delayMs);
        } catch (TimeoutException e) {
            return;
        } catch (ExecutionException e) {
            throw closed();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedWaitException("interrupted before a retry", e);
        }
    }

    /** Ends all current and future waits with {@link ClientClosedException}. */
    public void endAll() {
        ended = true;
        waits.forEach(Wait::end);
    }

    /** Allows waits again, so that a client that closes can still use its connections. */
    public void resume() {
        ended = false;
    }

    private static ClientClosedException closed() {
        return new ClientClosedException("the client was closed during this call; build another one");
    }
}
