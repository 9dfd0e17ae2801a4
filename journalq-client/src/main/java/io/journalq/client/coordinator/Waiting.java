package io.journalq.client.coordinator;

import io.journalq.client.JournalQException;
import io.journalq.client.error.InterruptedWaitException;
import io.journalq.client.error.RequestTimedOutException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** How a thread waits for an answer. Stateless. */
public final class Waiting {
    private Waiting() {}

    /**
     * Waits. Any thread but the event loop.
     *
     * @param what for messages: "the commit"
     * @throws JournalQException what it failed with, or that the time is over
     */
    public static <T> T join(CompletableFuture<T> result, long timeoutMs, String what) {
        try {
            return result.get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new RequestTimedOutException(
                    what + " was not done within " + timeoutMs
                            + " ms; check that the broker runs, or raise callTimeoutMs",
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
