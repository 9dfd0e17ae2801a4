package io.journalq.server.network;

import java.util.concurrent.TimeUnit;

/** Tracks how long a connection has been idle, and whether its client stalls. On the connection's loop. */
final class ConnectionActivity {
    /** A client that holds memory that others wait for must transfer this much in {@link #STALL_WINDOW_NANOS}. */
    private static final int MIN_TRANSFER_BYTES = 1024 * 1024;

    private static final long STALL_WINDOW_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Incremented with every request and response. */
    private long progress;

    private long idleSinceNanos;
    private long seenProgress;
    private long seenPendingBytes;

    private boolean stallSeen;

    /**
     * Start of the period in which less than {@link #MIN_TRANSFER_BYTES} were transferred while others waited for
     * memory.
     */
    private long stallNanos;

    private long stallProgress;
    private int stallArrivedBytes;
    private long stallPendingBytes;

    ConnectionActivity(long nowNanos) {
        this.idleSinceNanos = nowNanos;
    }

    /** A request has arrived, or a response has been written. */
    void onProgress() {
        progress++;
    }

    /**
     * Returns for how long nothing has happened.
     *
     * @param waits whether the client waits for the broker, so that it is not idle
     * @param pendingBytes size of the responses that the client has not read
     */
    long idleNanos(long nowNanos, boolean waits, long pendingBytes) {
        if (waits || progress != seenProgress || pendingBytes != seenPendingBytes) {
            seenProgress = progress;
            seenPendingBytes = pendingBytes;
            idleSinceNanos = nowNanos;
        }
        return nowNanos - idleSinceNanos;
    }

    /**
     * Whether the client has transferred too little for too long.
     *
     * @param begins whether the period starts now, because no other client waited for memory before
     * @param holds whether this client holds memory now
     * @param arrivedBytes number of bytes that have arrived of the current request
     * @param pendingBytes size of the responses that the client has not read
     */
    boolean isStalling(long nowNanos, boolean begins, boolean holds, int arrivedBytes, long pendingBytes) {
        boolean moved = arrivedBytes - stallArrivedBytes >= MIN_TRANSFER_BYTES
                || stallPendingBytes - pendingBytes >= MIN_TRANSFER_BYTES
                || progress != stallProgress;
        if (begins || !holds || moved || !stallSeen) {
            stallSeen = holds;
            stallNanos = nowNanos;
            stallArrivedBytes = arrivedBytes;
            stallPendingBytes = pendingBytes;
            stallProgress = progress;
            return false;
        }
        return nowNanos - stallNanos >= STALL_WINDOW_NANOS;
    }
}
