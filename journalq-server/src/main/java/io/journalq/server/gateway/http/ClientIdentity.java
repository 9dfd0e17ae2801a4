package io.journalq.server.gateway.http;

import io.journalq.server.api.ClientSession;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.LocalCall;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.Transport;
import io.journalq.server.security.Right;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import java.util.Map;
import java.util.function.IntConsumer;

/** Whose requests arrive on a connection: its session, the client id of each request, and their quotas. On the loop. */
final class ClientIdentity implements AutoCloseable {
    private static final int MILLIS_PER_SECOND = 1_000;
    private static final String CLIENT_ID = "JQ-Client-Id";
    private static final String DEFAULT_CLIENT_ID = "http";
    private static final int MAX_CLIENT_ID_LENGTH = 256;

    private final HttpDoor.Services services;
    private final LoopCycle cycle;
    private final Channel channel;
    private final Transport.Line line;
    private final String listenerName;
    private final IntConsumer pause;

    /** Null before the first request, because a client of TLS has no certificate before the handshake. */
    private ClientSession session;

    private LocalCall.Client client;

    /** @param pause delays a client that exceeded a quota by this number of ms. Any thread */
    ClientIdentity(
            HttpDoor.Services services,
            LoopCycle cycle,
            Channel channel,
            Transport.Line line,
            String listenerName,
            IntConsumer pause) {
        this.services = services;
        this.cycle = cycle;
        this.channel = channel;
        this.line = line;
        this.listenerName = listenerName;
        this.pause = pause;
    }

    /**
     * Takes the client id of a request, which applies until the next request.
     *
     * @throws io.journalq.server.gateway.problem.ProblemException if the client has no identity
     */
    void begin(HttpRequest request) {
        String clientId = request.headers().get(CLIENT_ID, DEFAULT_CLIENT_ID);
        if (clientId.length() > MAX_CLIENT_ID_LENGTH) {
            throw HttpExchange.invalid(
                    "the header " + CLIENT_ID + " has more than " + MAX_CLIENT_ID_LENGTH + " characters",
                    "send a shorter one");
        }
        if (session == null) {
            session = newSession();
        }
        if (client == null || !client.clientId().equals(clientId)) {
            client = new LocalCall.Client(
                    session, cycle, clientId, channel.remoteAddress(), channel.localAddress(), listenerName, true);
        }
    }

    private ClientSession newSession() {
        try {
            return services.sessions().open(line.clientCertificate(), pause);
        } catch (IllegalArgumentException unknown) {
            throw new Problem(
                            ProblemType.NO_IDENTITY,
                            unknown.getMessage(),
                            "present another certificate, or change the rules")
                    .exception();
        }
    }

    /** The sender of calls of the current request. */
    LocalCall.Client client() {
        return client;
    }

    /**
     * Refuses the current request if its client has used up a quota.
     *
     * @param key the quota
     */
    void checkQuota(String key) {
        if (!services.throttles().isActive()) {
            return;
        }
        int waitMs = services.throttles().useBytes(key, session.principal(), client.clientId(), 0);
        if (waitMs > 0) {
            int seconds = (waitMs + MILLIS_PER_SECOND - 1) / MILLIS_PER_SECOND;
            throw new Problem(
                            ProblemType.QUOTA_EXCEEDED,
                            "the client has used up the quota " + key,
                            "try again in " + seconds + " s, or raise the quota",
                            Map.of(HttpHeaderNames.RETRY_AFTER.toString(), String.valueOf(seconds)))
                    .exception();
        }
    }

    /**
     * Refuses the current request if its client does not have a right.
     *
     * @param served the API that the request will call
     */
    void checkRight(HandlerRegistry.Served served, Right right, String topic) {
        LocalCall call = new LocalCall(client, served, served.api().highestVersion(), 0, response -> {});
        if (!call.allows(right, topic)) {
            throw Problem.denied("the client has no right to " + right.operation() + " this topic")
                    .exception();
        }
    }

    @Override
    public void close() {
        if (session != null) {
            session.close();
        }
    }
}
