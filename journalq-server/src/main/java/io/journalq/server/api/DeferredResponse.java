package io.journalq.server.api;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.loop.Loop;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers a request once an operation is done. A defect on the way closes the connection and is logged, never lost. */
public final class DeferredResponse {
    private static final Logger log = LoggerFactory.getLogger(DeferredResponse.class);

    private DeferredResponse() {}

    /**
     * Answers {@code context} with what {@code response} makes of the operation's result, or of its failure; the other of
     * the two is null. On the thread that ends the operation.
     */
    public static <T> void when(
            CompletionStage<T> operation,
            RequestContext context,
            BiFunction<? super T, Throwable, ? extends ApiMessage> response) {
        var unused = operation.whenComplete((result, failure) -> {
            try {
                context.respond(response.apply(result, failure));
            } catch (RuntimeException defect) {
                log.error("event=answer-failed client={}", context.remoteAddress(), defect);
                context.refuse("the broker failed to answer");
            }
        });
    }

    /**
     * As {@link #when}, but after {@code timeoutMs} it waits no longer and answers as after a {@link
     * TimeoutException}; the operation goes on. Zero and less wait for nothing.
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
