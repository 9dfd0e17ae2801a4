package io.journalq.server.api;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.security.Authorizer.Asker;
import io.journalq.server.security.Right;

/**
 * Serves one API. Called on the loop of the connection that the request arrived on, and must not block: work that may
 * block runs on another thread and responds from there. Each request gets exactly one response, from any thread,
 * through its context.
 *
 * @param <Q> the type of the request
 */
public interface Handler<Q extends ApiMessage> {
    /**
     * An API, the range of versions that a handler serves, and the rights that it asks for.
     *
     * @param lowestVersion lowest version served
     * @param highestVersion highest version served
     * @param access the rights that the clients of the API need
     */
    record ServedApi(ApiKey key, int lowestVersion, int highestVersion, AccessRule access) {
        public ServedApi {
            Check.that(
                    lowestVersion <= highestVersion && key.hasVersion(lowestVersion) && key.hasVersion(highestVersion),
                    "versions that the schema does not have");
        }

        /**
         * Who asks for a right.
         *
         * @param right must be in the rule of the API
         */
        public Asker asker(Right right, RequestContext request) {
            Check.that(access.rights().contains(right), "a handler asks for a right that its API does not state");
            return asker(request);
        }

        /** Who has sent a request. */
        public Asker asker(RequestContext request) {
            return new Asker(
                    request.principal(),
                    Asker.host(request.remoteAddress()),
                    key.apiName(),
                    request.clientId(),
                    request.correlationId());
        }

        boolean includes(short version) {
            return version >= lowestVersion && version <= highestVersion;
        }
    }

    /**
     * The API, the versions of it that this handler serves, and the rights that it asks for. ApiVersions is derived from
     * it.
     */
    ServedApi api();

    /**
     * Serves a request. The request and every slice in it live until the response is given. Code that keeps a slice
     * longer retains it.
     */
    void handle(RequestContext context, Q request);
}
