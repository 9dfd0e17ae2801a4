package io.journalq.server.api;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.api.Handler.ServedApi;
import io.journalq.server.security.Authorizer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The served APIs, each with its handler and versions. What the broker reports about its APIs is derived from this
 * registry. Filled while the broker is built, then read by any thread.
 */
public final class HandlerRegistry {
    private final Served[] servedById = new Served[highestId() + 1];
    private final Authorizer authorizer;

    /** @param authorizer decides what the clients of the APIs may do */
    public HandlerRegistry(Authorizer authorizer) {
        this.authorizer = authorizer;
    }

    /**
     * A served API and its handler.
     *
     * @param authorizer decides what the clients may do
     */
    public record Served(ServedApi api, Handler<?> handler, Authorizer authorizer) {
        /** Whether the handler serves requests of this version. */
        public boolean serves(short version) {
            return api.includes(version);
        }

        @SuppressWarnings("unchecked") // a handler names the API whose requests it takes
        void handle(RequestContext context, ApiMessage request) {
            ((Handler<ApiMessage>) handler).handle(context, request);
        }
    }

    /** Registers {@code handler} for its API and versions. */
    public void register(Handler<?> handler) {
        ServedApi api = handler.api();
        Check.that(servedById[api.key().id()] == null, "an API is registered twice");
        servedById[api.key().id()] = new Served(api, handler, authorizer);
    }

    /** Puts another handler of a registered API in the place of its handler. */
    public void replace(ApiKey key, UnaryOperator<Handler<?>> replacement) {
        Served before = servedById[key.id()];
        servedById[key.id()] = new Served(before.api(), replacement.apply(before.handler()), authorizer);
    }

    /** The API of that number and its handler; null when it is not served or does not exist. */
    public Served find(short apiKeyId) {
        return apiKeyId >= 0 && apiKeyId < servedById.length ? servedById[apiKeyId] : null;
    }

    /** Decides what the clients of the APIs may do. */
    public Authorizer authorizer() {
        return authorizer;
    }

    /** All served APIs, by number. */
    public List<Served> all() {
        List<Served> all = new ArrayList<>();
        for (Served served : servedById) {
            if (served != null) {
                all.add(served);
            }
        }
        return all;
    }

    private static int highestId() {
        int highest = 0;
        for (ApiKey key : ApiKey.values()) {
            highest = Math.max(highest, key.id());
        }
        return highest;
    }
}
