package io.journalq.server.network;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The number of open connections of each address. Any thread. */
final class ConnectionCounts {
    private final Map<InetAddress, Integer> countByAddress = new ConcurrentHashMap<>();

    /** Adds a connection. Returns the number of connections of its address, 0 if the address is unknown. */
    int add(SocketAddress client) {
        return client instanceof InetSocketAddress known
                ? countByAddress.merge(known.getAddress(), 1, Integer::sum)
                : 0;
    }

    /** Removes a connection. */
    void remove(SocketAddress client) {
        if (client instanceof InetSocketAddress known) {
            countByAddress.computeIfPresent(known.getAddress(), (address, count) -> count == 1 ? null : count - 1);
        }
    }

    /** Number of addresses with a connection. */
    int size() {
        return countByAddress.size();
    }
}
