package io.journalq.server.loop;

import java.util.concurrent.CompletableFuture;

/** How a thread that may block waits for what others do; a simulation runs other work meanwhile. Any thread, not a loop's. */
@FunctionalInterface
public interface Waiting {
    /**
     * Returns when {@code wanted} is complete.
     *
     * @throws java.util.concurrent.CompletionException when it failed, with the cause
     */
    <T> T join(CompletableFuture<T> wanted);
}
