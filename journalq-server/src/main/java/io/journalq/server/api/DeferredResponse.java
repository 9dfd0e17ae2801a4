package io.journalq.server.api;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.loop.Loop;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Responds to a request once an operation has completed. If creating the response fails, the failure is logged and the
 * connection is closed.
 */
public final class DeferredResponse {
    private static final Logger log = LoggerFactory.getLogger(DeferredResponse.class);

    private DeferredResponse() {}

    /**
     * Responds with the result of {@code response}, which receives the operation's result or failure; the other of the
     * two is null. Runs on the thread that completes the operation.
     */
    public static <T> void when(
            CompletionStage<T> operation,
            RequestContext context,
            BiFunction<? super T, Throwable, ? extends ApiMessage> response) {
        var unused = operation.whenComplete((result, failure) -> {
            try {
                context.respond(response.apply(result, failure));
            } catch (RuntimeException | OutOfMemoryError failed) {
                // Also a lack of memory: without a response, later ones of the connection would wait for it.
                log.error("event=response-failed client={}", context.remoteAddress(), failed);
                context.refuse("the broker failed to respond");
            }
        });
    }

    /**
     * As {@link #when}, but responds after {@code timeoutMs} as after a {@link TimeoutException}, while the operation
     * continues. With zero or less, it responds immediately.
     */
    public static <T> void within(
            int timeoutMs,
            CompletableFuture<T> operation,
            RequestContext context,
            BiFunction<? super T, Throwable, ? extends ApiMessage> response) {
        CompletableFuture<T> waited = operation.copy();
        Loop.Timer limit = context.cycle()
                .loop()
                .schedule(() -> waited.completeExceptionally(new TimeoutException()), Math.max(0, timeoutMs));
        var unused = waited.whenComplete((result, failure) -> limit.cancel());
        when(waited, context, response);
    }
}
