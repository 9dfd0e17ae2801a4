package io.journalq.server.network;

/**
 * Which connections are taken, and how long they may do nothing.
 *
 * @param maxConnections connections of the whole broker
 * @param maxConnectionsPerAddress connections from one address
 * @param maxConnectionsPerSecond new connections that one listener takes; further ones wait in the system's queue
 * @param maxIdleMs a connection on which no request is completed, worked on or answered for so long is closed, also when
 *     it is in the midst of sending one or does not read its answers
 */
public record AdmissionLimits(
        int maxConnections, int maxConnectionsPerAddress, int maxConnectionsPerSecond, long maxIdleMs) {}
