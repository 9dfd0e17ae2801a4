package io.journalq.server.network;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the clients of one address may do before they have authenticated: how many may be connected at the same time,
 * and how many logins may fail before the address is locked out for a minute. The addresses of one IPv6 network of 64
 * bits count as one, because a single host can use all of them. Any thread.
 */
public final class AddressLimits {
    private static final Logger log = LoggerFactory.getLogger(AddressLimits.class);

    private static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Number of addresses whose failures are remembered. Beyond that, the oldest are forgotten. */
    private static final int MAX_FAILING_ADDRESSES = 10_000;

    private static final int IPV6_NETWORK_BYTES = 8;

    private final int maxConnections;
    private final int maxFailures;
    private final LongSupplier nanoTime;

    /** Connections of each address that have not authenticated. Guarded by this. */
    private final Map<InetAddress, Integer> connections = new HashMap<>();

    /** In the order in which their windows began. Guarded by this. */
    private final Map<InetAddress, Failures> failures = new LinkedHashMap<>();

    /** The failed logins of an address since a time, or since it was locked out. */
    private static final class Failures {
        private final long begunNanos;
        private int count;

        private Failures(long begunNanos) {
            this.begunNanos = begunNanos;
        }
    }

    /**
     * Creates the limits.
     *
     * @param maxConnections connections of an address that have not authenticated
     * @param maxFailures failed logins of an address within a minute that lock it out; 0 if none do
     */
    public AddressLimits(int maxConnections, int maxFailures) {
        this(maxConnections, maxFailures, System::nanoTime);
    }

    AddressLimits(int maxConnections, int maxFailures, LongSupplier nanoTime) {
        this.maxConnections = maxConnections;
        this.maxFailures = maxFailures;
        this.nanoTime = nanoTime;
    }

    /** Counts a connection. Returns whether its address has at most as many as allowed. */
    synchronized boolean add(SocketAddress client) {
        InetAddress address = blockOf(client);
        return address == null || connections.merge(address, 1, Integer::sum) <= maxConnections;
    }

    /** The client of a connection that was counted has authenticated or disconnected. */
    synchronized void remove(SocketAddress client) {
        InetAddress address = blockOf(client);
        if (address != null) {
            connections.computeIfPresent(address, (known, count) -> count == 1 ? null : count - 1);
        }
    }

    /** A client has sent a wrong user or password. */
    public void onFailedLogin(SocketAddress client) {
        InetAddress address = blockOf(client);
        if (address != null && maxFailures > 0 && countFailure(address)) {
            log.warn(
                    "address locked out: client={} reason=\"{} failed logins within a minute; its logins are refused for"
                            + " 1 min\" remedy=\"correct the user and password of the client; if many clients share the"
                            + " address, raise max.authentication.failures.per.ip\"",
                    address,
                    maxFailures);
        }
    }

    /** Whether the address is locked out from now on. */
    private synchronized boolean countFailure(InetAddress address) {
        long nowNanos = nanoTime.getAsLong();
        forgetOld(nowNanos);
        Failures known = failures.computeIfAbsent(address, first -> new Failures(nowNanos));
        if (known.count == maxFailures || ++known.count < maxFailures) {
            return false;
        }
        failures.remove(address);
        Failures lockedOut = new Failures(nowNanos);
        lockedOut.count = maxFailures;
        failures.put(address, lockedOut);
        return true;
    }

    private void forgetOld(long nowNanos) {
        Iterator<Failures> oldestFirst = failures.values().iterator();
        while (oldestFirst.hasNext()) {
            Failures oldest = oldestFirst.next();
            if (failures.size() < MAX_FAILING_ADDRESSES && nowNanos - oldest.begunNanos < WINDOW_NANOS) {
                return;
            }
            oldestFirst.remove();
        }
    }

    /** Whether further logins of the address are refused, because too many have failed. */
    public synchronized boolean isLockedOut(SocketAddress client) {
        Failures known = failures.get(blockOf(client));
        return known != null && known.count == maxFailures && nanoTime.getAsLong() - known.begunNanos < WINDOW_NANOS;
    }

    /** The address, or the network of an IPv6 address; null if it is unknown. */
    private static InetAddress blockOf(SocketAddress client) {
        if (!(client instanceof InetSocketAddress known) || known.getAddress() == null) {
            return null;
        }
        InetAddress address = known.getAddress();
        if (!(address instanceof Inet6Address)) {
            return address;
        }
        byte[] network = address.getAddress();
        Arrays.fill(network, IPV6_NETWORK_BYTES, network.length, (byte) 0);
        try {
            return InetAddress.getByAddress(network);
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException(impossible); // It has the length of an address.
        }
    }
}
