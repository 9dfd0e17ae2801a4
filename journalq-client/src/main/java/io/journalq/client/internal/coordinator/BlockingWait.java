package io.journalq.client.internal.coordinator;

import io.journalq.client.error.InterruptedWaitException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.RequestTimedOutException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for the result of a request. Stateless. */
public final class BlockingWait {
    private BlockingWait() {}

    /**
     * Waits for a result. Any thread except the event loop.
     *
     * @param what the subject of error messages, such as "the commit"
     * @throws JournalQException if the result is a failure or does not arrive in time
     */
    public static <T> T join(CompletableFuture<T> result, long timeoutMs, String what) {
        try {
            return result.get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new RequestTimedOutException(
                    what + " did not complete within " + timeoutMs
                            + " ms; check that the broker is running, or raise callTimeoutMs",
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
}
