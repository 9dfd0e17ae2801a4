package io.journalq.server.api;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import java.util.function.Consumer;

/** Calls handlers for clients that do not speak the Kafka protocol. On the loop of the client. */
@FunctionalInterface
public interface LocalCalls {
    /**
     * Calls the handler of an API.
     *
     * @param message must not change, and its records must not be released, before the response
     * @param sizeBytes counts against the quota of produced bytes
     * @param onResponse receives the response, on the client's loop, and owns the records in it; null if there is none
     */
    void call(
            LocalCall.Client client,
            ApiKey api,
            int version,
            ApiMessage message,
            int sizeBytes,
            Consumer<ApiMessage> onResponse);

    /** Calls the handlers of this broker only. */
    static LocalCalls here(HandlerRegistry handlers) {
        return (client, api, version, message, sizeBytes, onResponse) ->
                new LocalCall(client, handlers.find(api.id()), version, sizeBytes, onResponse).start(message);
    }
}
