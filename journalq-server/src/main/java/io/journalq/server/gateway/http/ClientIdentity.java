package io.journalq.server.gateway.http;

import io.journalq.server.api.ClientSession;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.LocalCall;
import io.journalq.server.api.RecordMemory;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.Transport;
import io.journalq.server.security.Authorizer.Denial;
import io.journalq.server.security.Principal;
import io.journalq.server.security.Right;
import io.journalq.server.security.sasl.HttpLogin;
import io.journalq.server.security.sasl.HttpScheme;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Whose requests arrive on a connection: its session, the client id of each request, and their quotas. On the loop. */
final class ClientIdentity implements AutoCloseable {
    private static final int MILLIS_PER_SECOND = 1_000;
    private static final String CLIENT_ID = "JQ-Client-Id";
    private static final String DEFAULT_CLIENT_ID = "http";
    private static final int MAX_CLIENT_ID_LENGTH = 256;

    /** Delay of the response to a refused login, so that guessing takes time. */
    private static final long REFUSAL_DELAY_MS = 100;

    private final HttpDoor.Services services;
    private final LoopCycle cycle;
    private final Channel channel;
    private final Transport.Line line;
    private final String listenerName;
    private final IntConsumer pause;

    /**
     * That of the last user. Null before the first request, because a client of TLS has no certificate before the
     * handshake.
     */
    private ClientSession session;

    /** Null before the first request. */
    private Principal principal;

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

    /** Whether each request has to log in. */
    boolean needsLogin() {
        return services.clients().logins() != null;
    }

    /**
     * Checks the login of a request.
     *
     * @param onLogin receives the result, on the loop: now if it is already known to be right, and otherwise later. Asking
     *     for the result fails with a problem if it was not checked
     * @throws io.journalq.server.gateway.problem.ProblemException if too many logins are being checked
     */
    void logIn(HttpRequest request, Consumer<Supplier<HttpLogin>> onLogin) {
        CompletableFuture<HttpLogin> check = check(request);
        if (check.isDone()
                && !check.isCompletedExceptionally()
                && check.getNow(HttpLogin.NONE).succeeded()) {
            onLogin.accept(() -> check.getNow(HttpLogin.NONE));
            return;
        }
        var unused = check.whenComplete((login, defect) -> cycle.execute(() -> {
            if (defect != null) {
                onLogin.accept(() -> {
                    throw unchecked("the login could not be checked");
                });
            } else if (login.succeeded()) {
                onLogin.accept(() -> login);
            } else {
                cycle.loop().schedule(() -> onLogin.accept(() -> login), REFUSAL_DELAY_MS);
            }
        }));
    }

    private static ProblemException unchecked(String reason) {
        return new Problem(ProblemType.UNAVAILABLE, reason, "try again later").exception();
    }

    private CompletableFuture<HttpLogin> check(HttpRequest request) {
        List<String> headers = request.headers().getAll(HttpHeaderNames.AUTHORIZATION);
        if (headers.size() != 1) {
            return CompletableFuture.completedFuture(HttpLogin.NONE);
        }
        try {
            return services.clients()
                    .logins()
                    .check(headers.get(0), channel.remoteAddress())
                    .toCompletableFuture();
        } catch (RejectedExecutionException notChecked) {
            throw unchecked(notChecked.getMessage());
        }
    }

    /**
     * Takes the identity and the client id of a request, which apply until the next request.
     *
     * @param login null if the listener requires no login
     * @throws io.journalq.server.gateway.problem.ProblemException if the client has no identity
     */
    void begin(HttpRequest request, HttpLogin login) {
        String clientId = request.headers().get(CLIENT_ID, DEFAULT_CLIENT_ID);
        if (clientId.length() > MAX_CLIENT_ID_LENGTH) {
            throw HttpExchange.invalid(
                    "the header " + CLIENT_ID + " has more than " + MAX_CLIENT_ID_LENGTH + " characters",
                    "send a shorter one");
        }
        Principal now = principalOf(login);
        if (!now.equals(principal)) {
            close(); // A proxy sends requests of several users over one connection.
            principal = now;
            session = services.clients().sessions().apply(now, pause);
            client = null;
        }
        if (client == null || !client.clientId().equals(clientId)) {
            client = new LocalCall.Client(
                    session, cycle, clientId, channel.remoteAddress(), channel.localAddress(), listenerName, true);
        }
    }

    private Principal principalOf(HttpLogin login) {
        if (login != null && login.succeeded()) {
            return Principal.user(login.user());
        }
        if (needsLogin()) {
            throw unauthenticated(login).exception();
        }
        if (principal != null) {
            return principal;
        }
        try {
            return services.clients().byCertificate().apply(line.clientCertificate());
        } catch (IllegalArgumentException unknown) {
            throw new Problem(
                            ProblemType.NO_IDENTITY,
                            unknown.getMessage(),
                            "present another certificate, or change the rules")
                    .exception();
        }
    }

    /** The credentials of the current request have expired. */
    Problem expired() {
        return unauthenticated("the token has expired", HttpScheme.BEARER);
    }

    private Problem unauthenticated(HttpLogin login) {
        List<HttpScheme> accepted = services.clients().logins().schemes();
        HttpScheme scheme = accepted.size() == 1 ? accepted.get(0) : login.scheme();
        String detail = scheme == null ? "the request has no login that is accepted" : scheme.problem();
        return unauthenticated(Denial.message(detail, login.event()), login.scheme());
    }

    /**
     * Says which logins are accepted.
     *
     * @param refused the scheme of the login; null if there is none
     */
    private Problem unauthenticated(String detail, HttpScheme refused) {
        List<HttpScheme> accepted = services.clients().logins().schemes();
        return new Problem(
                ProblemType.UNAUTHENTICATED,
                detail,
                accepted.stream().map(HttpScheme::credentials).collect(Collectors.joining(", or ", "send ", ""))
                        + " (Authorization)",
                Map.of(
                        HttpHeaderNames.WWW_AUTHENTICATE.toString(),
                        accepted.stream()
                                .map(each -> each.challenge(each == refused))
                                .collect(Collectors.joining(", "))));
    }

    /**
     * The client of the current request, with a session of its own.
     *
     * @param paused receives by how many ms the client is to be delayed. Any thread
     * @param receivers the number of clients that get the records of a response. On the loop
     */
    LocalCall.Client lasting(IntConsumer paused, IntSupplier receivers) {
        return new LocalCall.Client(
                services.clients().sessions().apply(principal, paused),
                cycle,
                client.clientId(),
                client.remoteAddress(),
                client.localAddress(),
                listenerName,
                true,
                receivers,
                RecordMemory.UNLIMITED);
    }

    /** The records that the current request fetches may be regions of files. */
    void acceptFiles() {
        client = client.acceptingFiles();
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
    void checkRight(HandlerRegistry.Served served, Right right, String name) {
        LocalCall call = new LocalCall(client, served, served.api().highestVersion(), 0, response -> {});
        if (!call.allows(right, name)) {
            String detail = "the client has no right to " + right.operation() + " this "
                    + right.type().name().toLowerCase(Locale.ROOT);
            throw Problem.denied(detail + ": " + call.denial()).exception();
        }
    }

    @Override
    public void close() {
        if (session != null) {
            session.close();
        }
    }
}
