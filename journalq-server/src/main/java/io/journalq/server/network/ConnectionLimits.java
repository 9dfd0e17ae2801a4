package io.journalq.server.network;

/**
 * What one connection and one loop may hold. All sizes in bytes.
 *
 * @param maxFrameSizeBytes largest request
 * @param maxInFlightRequests requests of one connection without a response, before its socket is left unread
 * @param maxInFlightBytes their size, likewise; one request larger than this is still served, alone
 * @param maxLoopInFlightBytes size of all requests of up to 1 MiB on one loop without a response, likewise; requests that
 *     have not arrived completely may take as much again
 * @param admission which connections are taken
 */
public record ConnectionLimits(
        int maxFrameSizeBytes,
        int maxInFlightRequests,
        long maxInFlightBytes,
        long maxLoopInFlightBytes,
        Admission admission) {
    /** Reading goes on once no more than this fraction of a limit is in use. */
    static final double LOW_WATER = 0.5;

    /**
     * Which connections are accepted, and how long they may do nothing.
     *
     * @param maxConnections connections of the whole broker
     * @param maxConnectionsPerAddress connections from one address
     * @param maxConnectionsPerSecond new connections that one listener accepts; further ones wait in the system's queue
     * @param maxIdleMs a connection is closed if no request on it was completed, in work or responded to for this time,
     *     also while it sends a request or does not read its responses
     */
    public record Admission(
            int maxConnections, int maxConnectionsPerAddress, int maxConnectionsPerSecond, long maxIdleMs) {}
}
