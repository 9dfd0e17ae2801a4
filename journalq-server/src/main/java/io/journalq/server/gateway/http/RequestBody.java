package io.journalq.server.gateway.http;

import io.journalq.server.gateway.problem.Problem;
import io.netty.buffer.ByteBuf;

/**
 * Consumes the body of one request. On the loop of its connection. A {@link
 * io.journalq.server.gateway.problem.ProblemException} from any method ends the request with that problem.
 */
public interface RequestBody {
    /** Memory that is reserved before the first bytes are passed on; 0 if none is needed. */
    default long reservedBytes() {
        return 0;
    }

    /**
     * A part of the body has arrived.
     *
     * @param data borrowed
     */
    void onData(ByteBuf data);

    /**
     * Returns the buffer for the next read of the socket, so that what arrives need not be copied; null for any buffer. The
     * caller releases it. Called only when {@link #onData} has had everything that was read before. What is read can belong
     * to the next request, and {@link #onData} can get it in several parts.
     */
    default ByteBuf readTarget() {
        return null;
    }

    /** The body is complete. */
    void onEnd();

    /**
     * Goes on after a hold, before more data is passed on. Returns whether it has more to do, and wants to be called again
     * when the connection has its next turn.
     */
    default boolean goOn() {
        return false;
    }

    /**
     * The body ends before it is complete, because of a problem that its route has not found. Returns whether the route
     * responds with this problem itself, because it can say more about it; nothing else of the body arrives then.
     */
    default boolean onCutShort(Problem problem) {
        return false;
    }

    /** The broker stops. A response that does not end by itself ends now. Called after {@link #onEnd}. */
    default void onDrain() {}

    /**
     * The credentials of the client have expired. A response that can last ends now. Called after {@link #onEnd}; before
     * that, the body is cut short.
     */
    default void onExpired(Problem problem) {}

    /** The request has ended, with or without a response. Releases memory. Called once. */
    void onClosed();
}
