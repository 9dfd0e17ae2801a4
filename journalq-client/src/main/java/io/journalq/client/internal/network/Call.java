package io.journalq.client.internal.network;

import io.journalq.client.error.JournalQException;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.netty.buffer.ByteBuf;

/**
 * A request and the handler of its response. Either {@link #onResponse} or {@link #onFailure} is called, exactly once.
 * All methods are called on the event loop of the client.
 */
public abstract class Call {
    private final ApiKey apiKey;
    private final long timeoutMs;
    private short version;
    private int correlationId;
    private long deadlineNanos;

    /**
     * Creates a call.
     *
     * @param timeoutMs the maximum time from the moment that the connection accepts the call until its response; after
     *     it, the connection is closed, because responses arrive in order
     */
    protected Call(ApiKey apiKey, long timeoutMs) {
        this.apiKey = apiKey;
        this.timeoutMs = timeoutMs;
    }

    /** The newest version of the API that this client supports. */
    protected short newestVersion() {
        return apiKey.highestVersion();
    }

    /** Builds the request, when the connection is ready to send it. */
    protected abstract ApiMessage request(short version);

    /**
     * An estimate of the bytes of records that will be copied into the frame; it is used as the initial size of the
     * frame.
     */
    protected int copiedBytes() {
        return 0;
    }

    /**
     * Whether the broker sends a response. If not, {@link #onResponse} is called with nulls when the request has been
     * written.
     */
    protected boolean expectsResponse() {
        return true;
    }

    /**
     * Handles the response.
     *
     * @param frame the buffer that the slices in {@code response} refer to; valid only during this call, unless retained
     */
    protected abstract void onResponse(ApiMessage response, ByteBuf frame, short version);

    /** Handles the failure. It is unknown whether the broker has processed the request. */
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

    final long timeoutMs() {
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
