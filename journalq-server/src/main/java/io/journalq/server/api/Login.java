package io.journalq.server.api;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.loop.Loop;
import io.journalq.server.network.AuthenticationFailure;
import io.journalq.server.network.Connection;
import io.journalq.server.security.AuditLog;
import io.journalq.server.security.Authorizer.Asker;
import io.journalq.server.security.Principal;
import io.journalq.server.security.sasl.SaslExchange;
import io.journalq.server.security.sasl.SaslMechanisms;
import io.journalq.server.security.sasl.SaslStep;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The login of the client of one connection, on a listener that requires it. Before the login and after the end of the
 * session, only the requests of a login are served. A session ends after the lifetime in {@link LoginRules}, unless the
 * client logs in again as the same user with the same mechanism (KIP-368). On the loop of the connection.
 */
public final class Login implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Login.class);

    /** Delay of the response to a login that has failed, so that guessing takes time. */
    private static final long FAILURE_DELAY_MS = 100;

    /** Minimum time between two logins of a connection. */
    private static final long MIN_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Time after the end of a session, after which a connection without another login is closed. */
    private static final long EXPIRED_MS = TimeUnit.SECONDS.toMillis(10);

    private final Connection connection;
    private final AuditLog audit;
    private final SaslMechanisms mechanisms;
    private final long maxLifetimeMs;
    /** Of the newest login; 0 if the session does not end. */
    private long sessionLifetimeMs;

    private final Consumer<Principal> onLogin;
    private State state = State.STRANGER;
    /** The mechanism of the exchange, or of the last one. */
    private String mechanism;
    /** Null except between the choice of a mechanism and the result. */
    private SaslExchange exchange;

    private Principal principal;
    private long loginNanos;
    /** Null without a session that ends. */
    private Loop.Timer sessionEnd;

    private enum State {
        STRANGER,
        LOGGED_IN,
        EXPIRED,
        FAILED
    }

    /**
     * Begins without an identity.
     *
     * @param audit receives refusals
     * @param onLogin receives the identity of the client
     */
    Login(
            Connection connection,
            SaslMechanisms mechanisms,
            long sessionLifetimeMs,
            AuditLog audit,
            Consumer<Principal> onLogin) {
        this.connection = connection;
        this.audit = audit;
        this.mechanisms = mechanisms;
        this.maxLifetimeMs = sessionLifetimeMs;
        this.onLogin = onLogin;
    }

    /** Whether a request for this API is served now. */
    boolean admits(ApiKey api) {
        return switch (state) {
            case LOGGED_IN -> true;
            case STRANGER, EXPIRED ->
                api == ApiKey.SASL_AUTHENTICATE || api == ApiKey.SASL_HANDSHAKE || api == ApiKey.API_VERSIONS;
            case FAILED -> false;
        };
    }

    /** Whether the client has logged in at least once. */
    boolean isKnown() {
        return principal != null;
    }

    /** The mechanisms that the client can use. */
    public List<String> mechanisms() {
        return mechanisms.names();
    }

    /** The mechanism of the exchange. */
    public String mechanism() {
        return mechanism;
    }

    /**
     * Begins an exchange.
     *
     * @return why that is not possible; {@link ErrorCode#NONE} if it is
     */
    public ErrorCode choose(String wanted) {
        if (exchange != null) {
            return ErrorCode.ILLEGAL_SASL_STATE;
        }
        if (isKnown() && (sessionLifetimeMs == 0 || !wanted.equals(mechanism) || isTooEarly())) {
            return ErrorCode.ILLEGAL_SASL_STATE;
        }
        exchange = mechanisms.begin(wanted);
        if (exchange == null) {
            return ErrorCode.UNSUPPORTED_SASL_MECHANISM;
        }
        mechanism = wanted;
        return ErrorCode.NONE;
    }

    private boolean isTooEarly() {
        return connection.cycle().loop().nanoTime() - loginNanos < MIN_INTERVAL_NANOS;
    }

    /** Whether the client has chosen a mechanism, and the next message of it is expected. */
    public boolean isExchanging() {
        return exchange != null;
    }

    /**
     * Takes the next message of the client. No request is read until the step is done. If too many expensive steps
     * wait, the connection is closed.
     *
     * @param onStep receives the step, on the loop
     */
    public void next(RequestContext context, byte[] message, Consumer<SaslStep> onStep) {
        CompletableFuture<SaslStep> step;
        try {
            step = exchange.next(message).toCompletableFuture();
        } catch (RejectedExecutionException tooMany) {
            state = State.FAILED;
            connection.failAuthentication(AuthenticationFailure.OVERLOAD);
            context.respondNothing();
            return;
        }
        if (step.isDone()) {
            onStep.accept(step.getNow(null));
            return;
        }
        connection.hold();
        var unused = step.whenComplete((done, defect) -> connection.cycle().execute(() -> {
            if (defect != null) {
                log.error("event=authentication-step-failed", defect);
            }
            connection.goOn();
            onStep.accept(defect == null ? done : new SaslStep.Failure(false, null, "the broker failed; see its log"));
        }));
    }

    /**
     * The exchange has succeeded.
     *
     * @param credentialLifetimeMs after which the client must have logged in again; 0 if only the settings limit that
     * @return whether the client may be this user; false if it is logged in as another
     */
    public boolean succeed(String user, long credentialLifetimeMs) {
        Principal named = Principal.user(user);
        if (isKnown() && !named.equals(principal)) {
            return false;
        }
        exchange = null;
        state = State.LOGGED_IN;
        sessionLifetimeMs = maxLifetimeMs == 0 || credentialLifetimeMs == 0
                ? Math.max(maxLifetimeMs, credentialLifetimeMs)
                : Math.min(maxLifetimeMs, credentialLifetimeMs);
        if (!isKnown()) {
            principal = named;
            onLogin.accept(named);
        }
        connection.onAuthenticated();
        loginNanos = connection.cycle().loop().nanoTime();
        if (sessionLifetimeMs > 0 && connection.channel().isActive()) {
            endSessionLater();
        }
        return true;
    }

    private void endSessionLater() {
        close();
        Loop loop = connection.cycle().loop();
        sessionEnd = loop.schedule(
                () -> {
                    state = State.EXPIRED;
                    sessionEnd = loop.schedule(
                            () -> connection.failAuthentication(AuthenticationFailure.EXPIRED), EXPIRED_MS);
                },
                sessionLifetimeMs);
    }

    /** Lifetime of the session that begins with a login, in ms; 0 if it does not end. */
    public long sessionLifetimeMs() {
        return sessionLifetimeMs;
    }

    /**
     * Audits why the login is refused.
     *
     * @param user the user that the client claims to be; null if it has named none
     * @param wanted the mechanism
     * @param reason a constant text
     * @return the id of the event, which the client gets instead of the reason; null if it is not logged
     */
    public String refused(Asker asker, String user, String wanted, String reason) {
        return audit.loginRefused(asker, user, wanted, reason);
    }

    /**
     * The login has failed. Responds a little later, and then closes the connection.
     *
     * @param guess whether the messages of the client were correct, except for the user or the password
     */
    public void fail(RequestContext context, ApiMessage response, boolean guess) {
        exchange = null;
        state = State.FAILED;
        connection.hold();
        connection
                .cycle()
                .loop()
                .schedule(
                        () -> {
                            connection.failAuthentication(
                                    guess ? AuthenticationFailure.CREDENTIALS : AuthenticationFailure.PROTOCOL);
                            context.respond(response);
                        },
                        FAILURE_DELAY_MS);
    }

    /** The connection is closed, or a new session begins. */
    @Override
    public void close() {
        if (sessionEnd != null) {
            sessionEnd.cancel();
            sessionEnd = null;
        }
    }
}
