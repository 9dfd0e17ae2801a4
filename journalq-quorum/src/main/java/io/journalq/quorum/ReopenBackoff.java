package io.journalq.quorum;

import java.util.concurrent.TimeUnit;

/**
 * How long a Ratis server that was closed stays closed, and how long the next one waits before it asks for votes. One
 * thread at a time.
 */
final class ReopenBackoff {
    private static final int DELAY_MIN_MS = 500;
    private static final int DELAY_MAX_MS = 10_000;
    private static final int FIRST_ELECTION_MAX_MS = 10_000;

    /** A server that was open for this long is not expected to fail at once when it is opened again. */
    private static final int STABLE_AFTER_MS = 60_000;

    private int delayMs = DELAY_MIN_MS;
    private int firstElectionMs = RatisSettings.FIRST_ELECTION_TIMEOUT_MS;

    /** For how long the next server waits for a leader before it asks for votes. */
    int firstElectionMs() {
        return firstElectionMs;
    }

    /**
     * A server was closed.
     *
     * @param openNanos for how long it was open
     * @param closedItself when it asked for votes, perhaps as a voter that was removed. It can be added again only
     *     while its server is open, so the next one opens soon, and waits longer before it asks
     */
    void onClosed(long openNanos, boolean closedItself) {
        if (openNanos > TimeUnit.MILLISECONDS.toNanos(STABLE_AFTER_MS)) {
            delayMs = DELAY_MIN_MS;
            firstElectionMs = RatisSettings.FIRST_ELECTION_TIMEOUT_MS;
        }
        if (closedItself) {
            delayMs = DELAY_MIN_MS;
            firstElectionMs = Math.min(FIRST_ELECTION_MAX_MS, 2 * firstElectionMs);
        }
    }

    /** Time until the next attempt to open a server. Each call doubles the next result, up to {@link #DELAY_MAX_MS}. */
    int nextDelayMs() {
        int nextMs = delayMs;
        delayMs = Math.min(DELAY_MAX_MS, 2 * delayMs);
        return nextMs;
    }
}
