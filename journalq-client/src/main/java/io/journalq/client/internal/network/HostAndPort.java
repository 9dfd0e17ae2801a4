package io.journalq.client.internal.network;

import java.util.ArrayList;
import java.util.List;

/**
 * An unresolved address. Immutable.
 *
 * @param host a name or IP address; an IPv6 address is without brackets
 * @param port 1 to 65535
 */
public record HostAndPort(String host, int port) {
    private static final int MAX_PORT = 65_535;

    /**
     * Parses a comma-separated list such as {@code localhost:9092,[::1]:9093}.
     *
     * @throws IllegalArgumentException if an entry is not {@code host:port}; the message contains the entry
     */
    public static List<HostAndPort> parseList(String text) {
        List<HostAndPort> addresses = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            if (!part.isBlank()) {
                addresses.add(parse(part.strip()));
            }
        }
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException("no bootstrap server is set; set at least one as host:port");
        }
        return addresses;
    }

    private static HostAndPort parse(String text) {
        int colon = text.lastIndexOf(':');
        if (colon > 0) {
            String host = text.substring(0, colon);
            if (host.startsWith("[") && host.endsWith("]")) {
                host = host.substring(1, host.length() - 1);
            }
            try {
                int port = Integer.parseInt(text.substring(colon + 1));
                if (port > 0 && port <= MAX_PORT && !host.isEmpty()) {
                    return new HostAndPort(host, port);
                }
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("bootstrap server \"" + text + "\" has no port", e);
            }
        }
        throw new IllegalArgumentException(
                "bootstrap server \"" + text + "\" is not host:port with a port from 1 to " + MAX_PORT);
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
