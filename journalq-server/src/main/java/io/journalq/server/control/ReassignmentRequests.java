package io.journalq.server.control;

import io.journalq.server.control.Controller.ReassignmentSpec;
import io.journalq.server.control.OperationQueue.Draft;
import io.journalq.server.control.OperationQueue.Step;
import io.journalq.server.metadata.MetadataMachine;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.IntToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Begins and cancels reassignments. A cancellation, or another target, removes replicas at once. If one of these may have
 * the only copy of acknowledged records, the request first waits until the in-sync replicas that remain have shown that
 * they are alive, or are fenced. {@link ReassignmentCompletion} does the same at the end of a reassignment.
 *
 * <p>The request appends a record that changes nothing, and a broker has shown that it is alive when a heartbeat says
 * that it has applied that record. A heartbeat that was only under way when the broker died does not count.
 *
 * <p>Any thread may call {@link #reassign}.
 */
final class ReassignmentRequests {
    private static final Logger log = LoggerFactory.getLogger(ReassignmentRequests.class);
    /** Added to the session timeout, so that a silent broker is fenced before a request stops waiting for it. */
    private static final long FENCING_MS = 1_000;
    /** Maximum number of requests that wait; more are rejected at once. */
    private static final int MAX_WAITING = 100;

    private final OperationQueue operations;
    private final IntToLongFunction metadataOffset;
    /** Number of ticks that a request waits. A process that is paused has none, and fences nobody meanwhile. */
    private final long maxTicks;

    private final Queue<Request> waiting = new ConcurrentLinkedQueue<>();

    /** A request from its arrival to its outcomes. */
    private static final class Request {
        private static final long UNMARKED = -1;

        private final List<ReassignmentSpec> specs;
        private final CompletableFuture<List<Outcome>> result = new CompletableFuture<>();
        /** Number of metadata records that a broker has to know. On the controller's thread. */
        private long version = UNMARKED;

        /** Number of ticks for which it has waited. Written by ticks, and read by the operations that they start. */
        private int ticks;
        /** Whether an operation of the request is in progress. */
        private volatile boolean deciding;

        Request(List<ReassignmentSpec> specs) {
            this.specs = specs;
        }
    }

    /**
     * Creates an instance.
     *
     * @param metadataOffset number of metadata records that a broker has applied, as its last heartbeat said; called on
     *     the controller's thread
     * @param timeoutMs a broker is fenced if it is not heard from for this time
     */
    ReassignmentRequests(OperationQueue operations, IntToLongFunction metadataOffset, long timeoutMs) {
        this.operations = operations;
        this.metadataOffset = metadataOffset;
        this.maxTicks = (timeoutMs + FENCING_MS) / Controller.TICK_MS;
    }

    /** A term of this controller begins: the requests of the last one fail. */
    void begin() {
        waiting.forEach(request -> request.result.completeExceptionally(
                new NotControllerException("the controller has been elected again")));
    }

    /** One outcome each, in order. */
    CompletableFuture<List<Outcome>> reassign(List<ReassignmentSpec> specs) {
        if (specs.isEmpty()) {
            return CompletableFuture.completedFuture(List.of());
        }
        if (waiting.size() >= MAX_WAITING) {
            return CompletableFuture.failedFuture(new RejectedExecutionException("too many requests are waiting"));
        }
        Request request = new Request(specs);
        attempt(request);
        return request.result;
    }

    /** Called every {@link Controller#TICK_MS} milliseconds, by one thread. */
    void onTick() {
        waiting.removeIf(request -> request.result.isDone());
        for (Request request : waiting) {
            if (!request.deciding) {
                request.ticks++;
                attempt(request);
            }
        }
    }

    private void attempt(Request request) {
        request.deciding = true;
        var unused = operations
                .submit(
                        draft -> decideOrWait(request, draft),
                        outcomes -> outcomes.isEmpty()
                                ? OperationQueue.failed(outcomes)
                                : OperationQueue.logFailures(outcomes))
                .whenComplete((outcomes, failure) -> {
                    if (failure != null) {
                        request.result.completeExceptionally(failure);
                    } else if (!outcomes.isEmpty()) {
                        request.result.complete(outcomes);
                    }
                    request.deciding = false;
                });
    }

    /** No outcomes if the request waits. */
    private List<Outcome> decideOrWait(Request request, Draft draft) {
        if (request.result.isDone()) {
            return new ArrayList<>();
        }
        List<Integer> needed = request.specs.stream()
                .flatMap(spec -> draft
                        .decider()
                        .partitions()
                        .needed(spec.partition().topic(), spec.partition().partition(), spec.target())
                        .stream())
                .distinct()
                .toList();
        if (request.version == Request.UNMARKED && !needed.isEmpty()) {
            draft.add(new Step(draft.decider().mark(), null), false);
            request.version = draft.decider().image().version();
            waiting.add(request);
            return new ArrayList<>();
        }
        List<Integer> silent = needed.stream()
                .filter(node -> metadataOffset.applyAsLong(node) < request.version)
                .toList();
        if (!silent.isEmpty() && request.ticks < maxTicks) {
            return new ArrayList<>();
        }
        if (!silent.isEmpty()) {
            log.warn("reassignments do not wait any longer for brokers that lack metadata: brokers={}", silent);
        }
        waiting.remove(request);
        return draft.addEach(request.specs, false, ReassignmentRequests::decide);
    }

    /** Decides without waiting. */
    static Step decide(MetadataMachine decider, ReassignmentSpec spec) {
        return new Step(
                decider.partitions()
                        .reassign(
                                spec.partition().topic(),
                                spec.partition().partition(),
                                spec.target(),
                                spec.changesFactor()),
                null);
    }
}
