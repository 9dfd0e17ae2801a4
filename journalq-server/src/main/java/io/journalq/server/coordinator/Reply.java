package io.journalq.server.coordinator;

import io.journalq.common.protocol.ErrorCode;

/**
 * The way back to whoever asked. Exactly one of the methods is called, once; both may be called long after the call that
 * brought it.
 *
 * @param <T> the answer
 */
public interface Reply<T> {
    /** Answers, as soon as everything that was appended before is safe. */
    void send(T answer);

    /** The coordinator cannot answer: it lost its machine, or stops. */
    void fail(ErrorCode error);
}
