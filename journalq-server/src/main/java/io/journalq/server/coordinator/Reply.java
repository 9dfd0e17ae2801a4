package io.journalq.server.coordinator;

import io.journalq.common.protocol.ErrorCode;

/**
 * Sends the response to a request. Exactly one of the methods is called, exactly once, possibly long after the call
 * that passed the reply.
 *
 * @param <T> the response
 */
public interface Reply<T> {
    /** Sends the response as soon as all previous appends are safe. */
    void send(T response);

    /** Reports that the coordinator cannot respond, because it lost its machine or stops. */
    void fail(ErrorCode error);
}
