package io.journalq.server.gateway.http;

import io.journalq.common.protocol.ApiKey;
import io.journalq.server.gateway.problem.ProblemType;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** The counters of the gateway. Any thread. */
public final class GatewayCounters {
    private static final String NO_ROUTE = "(none)";

    final AtomicInteger openConnections = new AtomicInteger();
    private final AtomicInteger openStreams = new AtomicInteger();
    private final AtomicInteger openWebSockets = new AtomicInteger();
    final LongAdder connectionsOverLimit = new LongAdder();
    private final Map<Kind, LongAdder> responses = new ConcurrentHashMap<>();
    private final Map<ProblemType, LongAdder> problems = new EnumMap<>(ProblemType.class);
    private final LongAdder appendedRecords = new LongAdder();
    private final LongAdder readRecords = new LongAdder();
    private final LongAdder fetches = new LongAdder();

    private record Kind(String route, int status) {}

    /**
     * The responses of one kind.
     *
     * @param route method and template of the route
     */
    public record Responses(String route, int status, long count) {}

    public GatewayCounters() {
        for (ProblemType type : ProblemType.values()) {
            problems.put(type, new LongAdder());
        }
    }

    /** A response has begun. There are few routes, and each has few statuses. */
    void onResponse(Route route, int status) {
        String name = route == null ? NO_ROUTE : route.method() + " " + route.template();
        responses
                .computeIfAbsent(new Kind(name, status), kind -> new LongAdder())
                .increment();
    }

    void onProblem(ProblemType type) {
        problems.get(type).increment();
    }

    /** Records of requests were appended. */
    public void onAppended(long records) {
        appendedRecords.add(records);
    }

    /** A stream of events has begun. */
    public void onStreamBegun() {
        openStreams.incrementAndGet();
    }

    /** A stream of events has ended. */
    public void onStreamEnded() {
        openStreams.decrementAndGet();
    }

    /** A WebSocket was opened. */
    public void onWebSocketOpened() {
        openWebSockets.incrementAndGet();
    }

    /** A WebSocket was closed. */
    public void onWebSocketClosed() {
        openWebSockets.decrementAndGet();
    }

    /** WebSockets that are open. */
    public int openWebSockets() {
        return openWebSockets.get();
    }

    /** The handler of an API is called for a client. */
    void onCall(ApiKey api) {
        if (api == ApiKey.FETCH) {
            fetches.increment();
        }
    }

    /** Records were written to responses. */
    public void onRead(long records) {
        readRecords.add(records);
    }

    /** The responses so far, by route and status. */
    public List<Responses> responses() {
        List<Responses> all = new ArrayList<>();
        responses.forEach((kind, count) -> all.add(new Responses(kind.route(), kind.status(), count.sum())));
        return all;
    }

    public long problems(ProblemType type) {
        return problems.get(type).sum();
    }

    public int openConnections() {
        return openConnections.get();
    }

    public int openStreams() {
        return openStreams.get();
    }

    /** Connections closed on arrival because there were too many. */
    public long connectionsOverLimit() {
        return connectionsOverLimit.sum();
    }

    public long appendedRecords() {
        return appendedRecords.sum();
    }

    public long readRecords() {
        return readRecords.sum();
    }

    /** Fetches of records for clients. */
    public long fetches() {
        return fetches.sum();
    }
}
