package io.journalq.server.api.data;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.message.FetchResponse;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One topic of a fetch session, by name in older versions and by id in newer ones. On the connection's loop. Shards
 * read the resolved id while the connection's loop does not use the topic.
 *
 * @param <P> one partition of the topic
 */
final class SessionTopic<P> {
    private final String name;
    private final Uuid id;
    private final Map<Integer, P> parts = new LinkedHashMap<>();
    private Uuid resolvedId;
    private FetchResponse.FetchableTopicResponse response;

    /**
     * A topic as the client identifies it.
     *
     * @param name null or empty when the client uses ids
     * @param id {@link Uuid#ZERO} when the client uses names
     */
    SessionTopic(String name, Uuid id) {
        this.name = name;
        this.id = id;
        this.resolvedId = id;
    }

    boolean usesId() {
        return !id.equals(Uuid.ZERO);
    }

    String name() {
        return name;
    }

    Uuid resolvedId() {
        return resolvedId;
    }

    void resolve(Uuid foundId) {
        resolvedId = foundId;
    }

    Map<Integer, P> parts() {
        return parts;
    }

    /** The element of this topic in the current response. */
    FetchResponse.FetchableTopicResponse response() {
        return response;
    }

    void setResponse(FetchResponse.FetchableTopicResponse newResponse) {
        response = newResponse;
    }

    FetchResponse.FetchableTopicResponse newResponse() {
        return new FetchResponse.FetchableTopicResponse()
                .setTopic(name == null ? "" : name)
                .setTopicId(id);
    }
}
