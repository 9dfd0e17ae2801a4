package io.journalq.server.api;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.metadata.security.AclImage;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Authorizer;
import io.journalq.server.security.Authorizer.Asker;
import io.journalq.server.security.Authorizer.Denial;
import io.journalq.server.security.Principal;
import io.journalq.server.security.Right;
import java.util.function.Supplier;

/**
 * A request on its way to its handler and back, independent of its transport. Everything that applies to all requests
 * happens here: quotas, and questions for the rights of the client.
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
    default void exemptFromQuotas() {
        session().throttle().exempt();
    }

    @Override
    default Principal principal() {
        return session().principal();
    }

    @Override
    default boolean allows(Right right, String name) {
        Authorizer authorizer = served().authorizer();
        if (!authorizer.isOn()) {
            return true;
        }
        KnownRights known = session().knownRights();
        AclImage acls = authorizer.acls();
        if (known.contains(acls, right, name)) {
            return true;
        }
        Denial denial = authorizer.check(acls, asker(right), right, name);
        if (denial == null) {
            known.add(right, name);
        }
        session().setDenial(denial);
        return denial == null;
    }

    @Override
    default String denial() {
        return session().denial();
    }

    @Override
    default boolean sees(Right right, String name) {
        Authorizer authorizer = served().authorizer();
        return !authorizer.isOn() || authorizer.sees(asker(right), right, name);
    }

    @Override
    default boolean allowsSome(Right right) {
        Authorizer authorizer = served().authorizer();
        if (!authorizer.isOn()) {
            return true;
        }
        KnownRights known = session().knownRights();
        AclImage acls = authorizer.acls();
        Boolean allowed = known.some(acls, right);
        if (allowed == null) {
            allowed = authorizer.decidesSome(acls, asker(right), right);
            known.addSome(right, allowed);
        }
        if (!allowed) {
            authorizer.denySome(asker(right), right);
        }
        return allowed;
    }

    @Override
    default boolean enforcesRights() {
        return served().authorizer().isOn();
    }

    @Override
    default int authorizedOperations(AclResourceType type, String name) {
        return served().authorizer().operations(served().api().asker(this), type, name);
    }

    private Asker asker(Right right) {
        return served().api().asker(right, this);
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
