package io.journalq.server.gateway.http;

import java.util.concurrent.TimeUnit;

/**
 * How fast a client sends its requests and reads its responses, and whether that is too slow. It is checked periodically
 * with the time, so that a request does not have to read the clock often. On the connection's loop.
 */
final class ClientPace {
    /** Maximum time from the accept, or from the first byte of a later request, to the end of the head. */
    private static final long MAX_HEAD_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Maximum time from a response to the next request. */
    private static final long MAX_IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** In each window, a body must arrive at {@link #MIN_BYTES_PER_WINDOW} at least, which is 1 KiB/s. */
    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final int MIN_BYTES_PER_WINDOW = 5 * 1024;

    /** A client that holds memory that others wait for must send this much in {@link #WINDOW_NANOS}. */
    private static final int MIN_TRANSFER_BYTES = 1024 * 1024;

    private long arrivedBytes;
    private long progressNanos;

    /** Start of the head that is arriving; 0 if nothing of it has arrived. */
    private long headNanos;

    private long windowNanos;
    private long windowBytes;
    private long stallNanos;
    private long stallBytes;
    private long seenPendingBytes;

    /** What a check has found. */
    enum Verdict {
        FAST_ENOUGH(""),
        /** It has sent nothing of a request for too long. */
        IDLE(""),
        SLOW_HEAD("the head did not arrive within 10 s"),
        SLOW_BODY("less than 1 KiB/s of the body arrived for 5 s");

        private final String detail;

        Verdict(String detail) {
            this.detail = detail;
        }

        /** What is too slow, for the client. */
        String detail() {
            return detail;
        }
    }

    /** The connection was accepted. */
    ClientPace(long nowNanos) {
        progressNanos = nowNanos;
        headNanos = nowNanos;
    }

    /** A part of a request was read from the socket. */
    void onBytes(int sizeBytes) {
        arrivedBytes += sizeBytes;
    }

    /** Whether a head has begun to arrive. */
    boolean isWithinHead() {
        return headNanos != 0;
    }

    /** The first bytes of a head have arrived. */
    void beginHead(long nowNanos) {
        headNanos = nowNanos;
    }

    /** The head has arrived. */
    void endHead(long nowNanos) {
        headNanos = 0;
        progressNanos = nowNanos;
    }

    /** The client may send more from now on. */
    void beginWindow(long nowNanos) {
        windowNanos = nowNanos;
        windowBytes = arrivedBytes;
    }

    /** The client holds memory for a body. */
    void beginHold(long nowNanos) {
        stallNanos = nowNanos;
        stallBytes = arrivedBytes;
    }

    /** Something has completed. */
    void onProgress(long nowNanos) {
        progressNanos = nowNanos;
    }

    /** While no request has arrived and the socket is read. */
    Verdict checkHead(long nowNanos) {
        if (headNanos != 0 && nowNanos - headNanos >= MAX_HEAD_NANOS) {
            return arrivedBytes == 0 ? Verdict.IDLE : Verdict.SLOW_HEAD;
        }
        return headNanos == 0 && nowNanos - progressNanos >= MAX_IDLE_NANOS ? Verdict.IDLE : Verdict.FAST_ENOUGH;
    }

    /** While a body arrives and the socket is read. */
    Verdict checkBody(long nowNanos) {
        if (nowNanos - windowNanos < WINDOW_NANOS) {
            return Verdict.FAST_ENOUGH;
        }
        if (arrivedBytes - windowBytes < MIN_BYTES_PER_WINDOW) {
            return Verdict.SLOW_BODY;
        }
        beginWindow(nowNanos);
        return Verdict.FAST_ENOUGH;
    }

    /**
     * Time since something has completed.
     *
     * @param pendingBytes changes while the client reads its response
     * @param waits whether the client waits for the broker
     */
    long idleNanos(long nowNanos, long pendingBytes, boolean waits) {
        if (pendingBytes != seenPendingBytes || waits) {
            seenPendingBytes = pendingBytes;
            progressNanos = nowNanos;
        }
        return nowNanos - progressNanos;
    }

    /**
     * Whether the client sends too little of a body while others wait for memory.
     *
     * @param holds whether it holds memory
     * @param begins whether no client was waiting before this call
     */
    boolean isStalling(long nowNanos, boolean holds, boolean begins) {
        if (begins || !holds || arrivedBytes - stallBytes >= MIN_TRANSFER_BYTES) {
            beginHold(nowNanos);
            return false;
        }
        return nowNanos - stallNanos >= WINDOW_NANOS;
    }
}
