package io.journalq.server.network;

/**
 * Limits of one connection and one loop. All sizes in bytes.
 *
 * @param maxFrameSizeBytes maximum size of a request
 * @param maxInFlightRequests number of requests of one connection without a response at which its socket is no longer
 *     read
 * @param maxInFlightBytes the same for their size; a single larger request is still served, alone
 * @param maxLoopInFlightBytes the same for the size of all requests of up to 1 MiB on one loop; incomplete requests may
 *     use the same amount in addition
 * @param admission limits on connections
 */
public record ConnectionLimits(
        int maxFrameSizeBytes,
        int maxInFlightRequests,
        long maxInFlightBytes,
        long maxLoopInFlightBytes,
        Admission admission) {
    /** Reading resumes when at most this fraction of a limit is in use. */
    static final double LOW_WATER = 0.5;

    /**
     * Limits on connections.
     *
     * @param maxConnections connections of the whole broker
     * @param maxConnectionsPerAddress connections from one address
     * @param maxConnectionsPerSecond new connections of one listener; more of them wait in the backlog of the operating
     *     system
     * @param maxIdleMs a connection is closed if for this time no request on it was completed, processed or responded
     *     to, even if it is sending a request or does not read its responses
     */
    public record Admission(
            int maxConnections, int maxConnectionsPerAddress, int maxConnectionsPerSecond, long maxIdleMs) {}
}
