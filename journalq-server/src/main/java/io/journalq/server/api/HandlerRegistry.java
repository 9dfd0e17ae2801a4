package io.journalq.server.api;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * The APIs that are served, each with its handler and versions. What the broker says about itself is derived from here
 * and so cannot differ from what it does. Filled while the broker is put together, then read by any thread.
 */
public final class HandlerRegistry {
    private final Served[] servedById = new Served[highestId() + 1];

    /**
     * An API that is served.
     *
     * @param lowestVersion lowest version served
     * @param highestVersion highest version served
     */
    public record Served(ApiKey key, short lowestVersion, short highestVersion, Handler<?> handler) {
        boolean serves(short version) {
            return version >= lowestVersion && version <= highestVersion;
        }

        @SuppressWarnings("unchecked") // register() is given the handler of this API's request
        void handle(RequestContext context, ApiMessage request) {
            ((Handler<ApiMessage>) handler).handle(context, request);
        }
    }

    /** Serves {@code key} in a range of versions, both ends included, by {@code handler}. */
    public void register(ApiKey key, int lowestVersion, int highestVersion, Handler<?> handler) {
        Check.that(servedById[key.id()] == null, "an API is registered twice");
        Check.that(key.hasVersion(lowestVersion) && key.hasVersion(highestVersion), "versions that the schema has not");
        servedById[key.id()] = new Served(key, (short) lowestVersion, (short) highestVersion, handler);
    }

    /** What serves the API of that number; null when it is not served or does not exist. */
    public Served find(short apiKeyId) {
        return apiKeyId >= 0 && apiKeyId < servedById.length ? servedById[apiKeyId] : null;
    }

    /** Everything served, by number. */
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
