package io.journalq.server.loop;

import java.util.concurrent.CompletableFuture;

/**
 * Blocks a thread until a future is complete. A simulation runs other work in the meantime. Any thread except those of
 * loops.
 */
@FunctionalInterface
public interface FutureWaiter {
    /**
     * Returns when {@code wanted} is complete.
     *
     * @throws java.util.concurrent.CompletionException when it failed, with the cause
     */
    <T> T join(CompletableFuture<T> wanted);
}
