package io.journalq.server.network;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Bounds what clients may cost before they have authenticated: by SASL, or on encrypted listeners without SASL by the
 * handshake of TLS. There is one for all these listeners. Any thread.
 */
public final class PreAuthentication {
    /** Maximum number of elements in all arrays of a request. */
    public static final int MAX_ENTRIES = 16;

    /** Maximum size of a request. */
    static final int MAX_FRAME_SIZE_BYTES = 32 * 1024;

    /** Number of requests without a response at which the socket is no longer read. */
    static final int MAX_IN_FLIGHT_REQUESTS = 1;

    /** Size of the unread responses at which no more are encoded. */
    static final int WRITE_HIGH_WATER_BYTES = 16 * 1024;

    private static final int MAX_CONNECTIONS = 1_000;
    private static final long MAX_MS = TimeUnit.SECONDS.toMillis(10);

    private final AddressLimits addresses;
    private final int maxConnections;
    private final long maxMs;

    /** In the order of their arrival. Guarded by this. */
    private final Set<AuthenticationWait> connections = new LinkedHashSet<>();

    /** @param addresses limits for each address */
    public PreAuthentication(AddressLimits addresses) {
        this(addresses, MAX_CONNECTIONS, MAX_MS);
    }

    PreAuthentication(AddressLimits addresses, int maxConnections, long maxMs) {
        this.addresses = addresses;
        this.maxConnections = maxConnections;
        this.maxMs = maxMs;
    }

    AddressLimits addresses() {
        return addresses;
    }

    /** Time from the accepted connection to the end of the authentication. */
    long maxMs() {
        return maxMs;
    }

    /** Adds a connection. Returns the oldest one, which the caller closes, if there are too many; otherwise null. */
    synchronized AuthenticationWait add(AuthenticationWait connection) {
        connections.add(connection);
        if (connections.size() <= maxConnections) {
            return null;
        }
        Iterator<AuthenticationWait> oldestFirst = connections.iterator();
        AuthenticationWait oldest = oldestFirst.next();
        oldestFirst.remove();
        return oldest;
    }

    /** The client has authenticated, or the connection is closed. */
    synchronized void remove(AuthenticationWait connection) {
        connections.remove(connection);
    }
}
