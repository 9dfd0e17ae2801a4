package io.journalq.client.network;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.netty.buffer.ByteBuf;

/**
 * One request and what becomes of it: exactly one of {@link #onAnswer} and {@link #onFailure} is called, once, on the
 * client's event loop, where every method of a call runs.
 */
public abstract class Call {
    private final ApiKey apiKey;
    private final int timeoutMs;
    private short version;
    private int correlationId;
    private long deadlineNanos;

    /**
     * A call.
     *
     * @param timeoutMs from the moment it is handed to a connection; then the connection is given up, for answers come
     *     in order
     */
    protected Call(ApiKey apiKey, int timeoutMs) {
        this.apiKey = apiKey;
        this.timeoutMs = timeoutMs;
    }

    /** Newest version of the API that this client makes use of. */
    protected short newestVersion() {
        return apiKey.highestVersion();
    }

    /** Builds the request when the connection is ready for it. */
    protected abstract ApiMessage request(short version);

    /** Bytes of records that the request will copy into its frame, about; so much room the frame is given at once. */
    protected int copiedBytes() {
        return 0;
    }

    /** Whether the broker answers; when not, {@link #onAnswer} is called with nulls once the request was written. */
    protected boolean expectsAnswer() {
        return true;
    }

    /**
     * The broker answered.
     *
     * @param frame what {@code answer}'s slices point into; valid during the call only, unless retained
     */
    protected abstract void onAnswer(ApiMessage answer, ByteBuf frame, short version);

    /** There will be no answer. Whether the broker acted on the request is unknown. */
    protected abstract void onFailure(JournalQException cause);

    final ApiKey apiKey() {
        return apiKey;
    }

    final short version() {
        return version;
    }

    final int correlationId() {
        return correlationId;
    }

    final boolean isOverdue(long nowNanos) {
        return nowNanos - deadlineNanos >= 0;
    }

    final int timeoutMs() {
        return timeoutMs;
    }

    final void handedOver(long nowNanos) {
        this.deadlineNanos = nowNanos + timeoutMs * 1_000_000L;
    }

    final void sent(short version, int correlationId) {
        this.version = version;
        this.correlationId = correlationId;
    }
}
