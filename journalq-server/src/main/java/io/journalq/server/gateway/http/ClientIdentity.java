package io.journalq.server.gateway.http;

import io.journalq.server.api.ClientSession;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.LocalCall;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.Transport;
import io.journalq.server.security.Authorizer.Denial;
import io.journalq.server.security.Principal;
import io.journalq.server.security.Right;
import io.journalq.server.security.sasl.PasswordLogin;
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

/** Whose requests arrive on a connection: its session, the client id of each request, and their quotas. On the loop. */
final class ClientIdentity implements AutoCloseable {
    private static final int MILLIS_PER_SECOND = 1_000;
    private static final String CLIENT_ID = "JQ-Client-Id";
    private static final String DEFAULT_CLIENT_ID = "http";
    private static final int MAX_CLIENT_ID_LENGTH = 256;
    private static final String CHALLENGE = "Basic realm=\"journalq\", charset=\"UTF-8\"";

    /** Delay of the response to a wrong password, so that guessing takes time. */
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

    /** Whether each request needs the password of a user. */
    boolean needsLogin() {
        return services.clients().byPassword() != null;
    }

    /**
     * Checks the password of a request.
     *
     * @param onLogin receives the result, on the loop: now if the password is known to be right, and otherwise later
     * @throws io.journalq.server.gateway.problem.ProblemException if too many passwords are being checked
     */
    void logIn(HttpRequest request, Consumer<PasswordLogin> onLogin) {
        CompletableFuture<PasswordLogin> check = check(request);
        if (check.isDone() && check.getNow(PasswordLogin.NONE).succeeded()) {
            onLogin.accept(check.getNow(PasswordLogin.NONE));
            return;
        }
        var unused = check.whenComplete((login, defect) -> cycle.execute(() -> {
            if (defect == null && login.succeeded()) {
                onLogin.accept(login);
            } else {
                PasswordLogin refused = defect == null ? login : PasswordLogin.NONE;
                cycle.loop().schedule(() -> onLogin.accept(refused), REFUSAL_DELAY_MS);
            }
        }));
    }

    private CompletableFuture<PasswordLogin> check(HttpRequest request) {
        List<String> headers = request.headers().getAll(HttpHeaderNames.AUTHORIZATION);
        if (headers.size() != 1) {
            return CompletableFuture.completedFuture(PasswordLogin.NONE);
        }
        try {
            return services.clients()
                    .byPassword()
                    .apply(headers.get(0), channel.remoteAddress())
                    .toCompletableFuture();
        } catch (RejectedExecutionException notChecked) {
            throw new Problem(ProblemType.UNAVAILABLE, notChecked.getMessage(), "try again later").exception();
        }
    }

    /**
     * Takes the identity and the client id of a request, which apply until the next request.
     *
     * @param login null if the listener requires no password
     * @throws io.journalq.server.gateway.problem.ProblemException if the client has no identity
     */
    void begin(HttpRequest request, PasswordLogin login) {
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

    private Principal principalOf(PasswordLogin login) {
        if (login != null && login.succeeded()) {
            return Principal.user(login.user());
        }
        if (needsLogin()) {
            throw new Problem(
                            ProblemType.UNAUTHENTICATED,
                            Denial.message("the user or the password is missing or wrong", login.event()),
                            "send both as HTTP Basic (Authorization)",
                            Map.of(HttpHeaderNames.WWW_AUTHENTICATE.toString(), CHALLENGE))
                    .exception();
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

    /**
     * The client of the current request, with a session of its own.
     *
     * @param paused receives by how many ms the client is to be delayed. Any thread
     */
    LocalCall.Client lasting(IntConsumer paused) {
        return new LocalCall.Client(
                services.clients().sessions().apply(principal, paused),
                cycle,
                client.clientId(),
                client.remoteAddress(),
                client.localAddress(),
                listenerName,
                true);
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
