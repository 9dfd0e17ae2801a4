package io.journalq.server.peer;

import io.journalq.common.protocol.ApiMessage;
import java.io.IOException;

/**
 * One connection to another broker, whose responses arrive on an event loop of this broker. On that loop. When a request
 * fails, the connection is closed.
 */
public interface PeerChannel {
    /** Takes the outcome of a request. Exactly one of the methods is called, on the loop, and never within {@code send}. */
    interface ResponseListener {
        /** The records in the response are valid during the call. Retain them to keep them longer. */
        void onResponse(ApiMessage response);

        /** The other broker cannot be reached, has closed the connection, or does not respond in time. */
        void onFailure(IOException reason);
    }

    /**
     * Sends a request.
     *
     * @param version of the API of the request, which the other broker must serve
     * @param timeoutMs the request fails if there is no response after this time
     */
    void send(ApiMessage request, int version, int timeoutMs, ResponseListener listener);

    /** Whether requests can be sent. */
    boolean isOpen();

    /** Closes the connection. Requests without a response get no outcome. */
    void close();
}
