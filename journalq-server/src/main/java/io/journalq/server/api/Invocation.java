package io.journalq.server.api;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.security.Principal;
import java.util.function.Supplier;

/**
 * A request on its way to its handler and back, independent of its transport. Everything that applies to all requests
 * happens here: today that is quotas.
 *
 * <p>This is an interface and not a class, so that a request is one object in each transport.
 */
interface Invocation extends RequestContext {
    /** The API and its handler. */
    HandlerRegistry.Served served();

    ClientSession session();

    /** The size that counts against quotas of bytes. */
    int requestSizeBytes();

    /** How long the client has to wait because of the size of this request. */
    int throttleTimeMs();

    void setThrottleTimeMs(int timeMs);

    /** Passes the response to the transport. Any thread. */
    void send(ApiMessage response);

    /** Calls the handler. On the client's loop. */
    default void invoke(ApiMessage request) {
        RequestThrottle throttle = session().throttle();
        if (!throttle.isActive()) {
            served().handle(this, request);
            return;
        }
        long begunNanos = cycle().loop().nanoTime();
        setThrottleTimeMs(throttle.onRequest(this, served().api().key(), requestSizeBytes()));
        served().handle(this, request);
        throttle.onHandled(this, cycle().loop().nanoTime() - begunNanos);
    }

    @Override
    default void respond(ApiMessage response) {
        Check.that(response.apiKey() == served().api().key(), "a response of another API");
        RequestThrottle throttle = session().throttle();
        if (throttle.isActive()) {
            throttle.onResponse(this, response, throttleTimeMs());
        }
        send(response);
    }

    @Override
    default Principal principal() {
        return session().principal();
    }

    @Override
    default Login login() {
        return session().login();
    }

    @Override
    default <T> T connectionState(Class<T> type, Supplier<T> first) {
        return session().state(type, first);
    }
}
