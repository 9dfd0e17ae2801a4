package io.journalq.server.network;

import io.netty.util.NetUtil;
import java.util.Collection;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The host names by which HTTP clients may address a listener. A DNS rebinding attack points the name of a web page
 * to the listener's address. Its requests have that name in the Host header, and are refused. IP addresses are always
 * allowed: a web page cannot use one as its name, and load balancers, port mappings and Prometheus use addresses that
 * the process does not know. Immutable.
 */
public final class AllowedHosts {
    private static final String LOCALHOST = "localhost";

    private final Set<String> names;

    /** Allows these names besides {@code localhost} and every IP address. Empty names are ignored. */
    public AllowedHosts(Collection<String> names) {
        this.names = names.stream()
                .filter(name -> !name.isBlank())
                .map(AllowedHosts::normalized)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Whether a Host header, {@code host} or {@code host:port}, names this listener. */
    public boolean allows(String header) {
        String text = header.strip();
        if (text.startsWith("[")) {
            int end = text.indexOf(']');
            return end > 0 && isPort(text.substring(end + 1)) && NetUtil.isValidIpV6Address(text.substring(1, end));
        }
        int colon = text.indexOf(':');
        if (colon >= 0 && !isPort(text.substring(colon))) {
            return false;
        }
        String host = normalized(colon < 0 ? text : text.substring(0, colon));
        return host.equals(LOCALHOST) || NetUtil.isValidIpV4Address(host) || names.contains(host);
    }

    private static boolean isPort(String text) {
        return text.isEmpty() || text.matches(":\\d{0,5}");
    }

    /** Ignores case, and the dot that ends a fully qualified name. */
    private static String normalized(String name) {
        String lower = name.strip().toLowerCase(Locale.ROOT);
        return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
    }
}
