package io.journalq.server.gateway.confluent;

import io.journalq.server.gateway.http.LastingCaller;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.loop.Loop;
import java.util.ArrayDeque;

/**
 * The requests to a {@link ConsumerInstance}. They are served one after the other. If there are none for a time, the
 * instance expires. On the loop of the instance.
 */
final class ConsumerQueue {
    /** Requests that wait for the one that is being served. */
    private static final int MAX_WAITING = 16;

    private final LastingCaller caller;
    private final int timeoutMs;
    private final Runnable onExpired;

    /** Requests that wait, behind the one that is being served. */
    private final ArrayDeque<Operation> waiting = new ArrayDeque<>();

    private ConsumerCall current;
    private Loop.Timer expiry;
    private boolean closed;

    private record Operation(ConsumerCall call, Runnable work) {}

    /**
     * There are no requests yet.
     *
     * @param timeoutMs time without requests after which {@code onExpired} is called
     */
    ConsumerQueue(LastingCaller caller, int timeoutMs, Runnable onExpired) {
        this.caller = caller;
        this.timeoutMs = timeoutMs;
        this.onExpired = onExpired;
        awaitExpiry();
    }

    private void awaitExpiry() {
        expiry = caller.schedule(onExpired, timeoutMs);
    }

    /**
     * Serves a request when those before it have their responses.
     *
     * @param work ends the call, now or later. A {@link ProblemException} ends it, too
     */
    void submit(ConsumerCall call, Runnable work) {
        if (closed) {
            call.fail(ConsumerInstances.unknown());
        } else if (waiting.size() >= MAX_WAITING) {
            call.fail(new Problem(
                    ProblemType.UNAVAILABLE,
                    MAX_WAITING + " requests to this consumer instance wait for others",
                    "wait for responses"));
        } else {
            waiting.add(new Operation(call, work));
            next();
        }
    }

    private void next() {
        if (current != null || waiting.isEmpty() || closed) {
            return;
        }
        Operation operation = waiting.remove();
        current = operation.call;
        expiry.cancel();
        long pauseMs = caller.pauseMs();
        if (pauseMs > 0) {
            caller.schedule(() -> start(operation), pauseMs);
        } else {
            start(operation);
        }
    }

    private static void start(Operation operation) {
        if (operation.call.isEnded()) {
            return;
        }
        try {
            operation.work.run();
        } catch (ProblemException refusal) {
            operation.call.fail(refusal.problem());
        }
    }

    /** Whether this request is being served. */
    boolean serves(ConsumerCall call) {
        return current == call;
    }

    /** The request that is being served has its response. */
    void onFinished() {
        current = null;
        if (!closed) {
            awaitExpiry();
            next();
        }
    }

    /** Refuses all requests, and never expires. */
    void close() {
        closed = true;
        expiry.cancel();
        if (current != null) {
            current.fail(ConsumerInstances.unknown());
        }
        waiting.forEach(operation -> operation.call.fail(ConsumerInstances.unknown()));
        waiting.clear();
    }
}
