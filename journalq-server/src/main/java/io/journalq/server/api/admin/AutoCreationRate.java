package io.journalq.server.api.admin;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * How many topics clients of one address may have created by asking for them. Counted by address, as a client chooses its
 * other names itself. Any thread; asked for missing topics only.
 *
 * <p>For each address there is the moment at which all that was created so far would be allowed at exactly the rate; it may
 * be {@link #BURST_NANOS} ahead of the present.
 */
public final class AutoCreationRate {
    /** What an address may use at once after it used nothing for as long. */
    static final long BURST_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Addresses that are remembered; the one that asked first is forgotten when there are more. */
    static final int MAX_ADDRESSES = 10_000;

    private final long nanosPerTopic;
    private final Map<InetAddress, Long> usedUpNanos = new LinkedHashMap<>();

    /** @param topicsPerSecond 1 or more */
    public AutoCreationRate(int topicsPerSecond) {
        this.nanosPerTopic = TimeUnit.SECONDS.toNanos(1) / topicsPerSecond;
    }

    /** Whether a client may have one more topic created now; then that is counted. */
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
