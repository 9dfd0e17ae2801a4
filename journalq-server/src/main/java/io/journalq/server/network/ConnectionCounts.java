package io.journalq.server.network;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** How many connections each address has open. Any thread. */
final class ConnectionCounts {
    private final Map<InetAddress, Integer> countByAddress = new ConcurrentHashMap<>();

    /** Counts a connection in; returns how many its address has now, 0 when the address is not known. */
    int add(SocketAddress client) {
        return client instanceof InetSocketAddress known
                ? countByAddress.merge(known.getAddress(), 1, Integer::sum)
                : 0;
    }

    /** Counts a connection out. */
    void remove(SocketAddress client) {
        if (client instanceof InetSocketAddress known) {
            countByAddress.computeIfPresent(known.getAddress(), (address, count) -> count == 1 ? null : count - 1);
        }
    }

    /** Addresses with a connection. */
    int size() {
        return countByAddress.size();
    }
}
