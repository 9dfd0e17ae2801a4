package io.journalq.server.api.admin;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Limits the rate at which topics are auto-created for the clients of one address. Counted by address, because a client
 * can choose its other names. Any thread. Only used for missing topics.
 *
 * <p>Each address has the time at which all creations so far would be allowed at exactly the rate. This time may be up
 * to {@link #BURST_NANOS} in the future.
 */
public final class AutoCreationLimiter {
    /** The burst that an address may use at once after it used nothing for this time. */
    static final long BURST_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Maximum number of addresses. Beyond it, the address that was added first is forgotten. */
    static final int MAX_ADDRESSES = 10_000;

    private final long nanosPerTopic;
    private final Map<InetAddress, Long> usedUpNanos = new LinkedHashMap<>();

    /** @param topicsPerSecond 1 or more */
    public AutoCreationLimiter(int topicsPerSecond) {
        this.nanosPerTopic = TimeUnit.SECONDS.toNanos(1) / topicsPerSecond;
    }

    /** Whether one more topic may be created for a client now. If so, it is counted. */
    synchronized boolean take(SocketAddress client, long nowNanos) {
        InetAddress address = client instanceof InetSocketAddress internet ? internet.getAddress() : null;
        long before = usedUpNanos.getOrDefault(address, nowNanos - BURST_NANOS);
        long usedUp = Math.max(before - nowNanos, -BURST_NANOS) + nanosPerTopic;
        if (usedUp > 0) {
            return false;
        }
        usedUpNanos.put(address, nowNanos + usedUp);
        if (usedUpNanos.size() > MAX_ADDRESSES) {
            Iterator<InetAddress> oldestFirst = usedUpNanos.keySet().iterator();
            oldestFirst.next();
            oldestFirst.remove();
        }
        return true;
    }
}
