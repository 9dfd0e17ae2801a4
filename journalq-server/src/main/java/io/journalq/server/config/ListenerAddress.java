package io.journalq.server.config;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address that a listener binds or advertises: {@code NAME://host:port}.
 *
 * @param name name of the listener, in upper case; an advertised address has the name of the listener that it belongs to
 * @param host host name or address; IPv6 without brackets; empty for every interface
 * @param port 0 to 65535; 0 binds any free port
 */
public record ListenerAddress(String name, String host, int port) {
    private static final Pattern FORM =
            Pattern.compile("(?:([A-Za-z][A-Za-z0-9_]*)://)?(?:\\[(.+)]|([^:\\[\\]/]*)):(\\d{1,5})");
    private static final int HIGHEST_PORT = 65_535;

    /** The name of a listener whose address has none. */
    private static final String DEFAULT_NAME = SecurityProtocol.PLAINTEXT.name();

    /** Parses {@code NAME://host:port} or {@code host:port}. */
    public static ListenerAddress parse(String text) throws ConfigException {
        Matcher matcher = FORM.matcher(text.strip());
        if (!matcher.matches()) {
            throw new ConfigException("'" + text + "' must be of the form PLAINTEXT://host:port");
        }
        int port = Integer.parseInt(matcher.group(4));
        if (port > HIGHEST_PORT) {
            throw new ConfigException("the port of '" + text + "' must be from 0 to " + HIGHEST_PORT);
        }
        String name = matcher.group(1) == null ? DEFAULT_NAME : canonicalName(matcher.group(1));
        return new ListenerAddress(name, matcher.group(2) == null ? matcher.group(3) : matcher.group(2), port);
    }

    /** The form in which names of listeners are compared: in upper case, as in Kafka. */
    static String canonicalName(String name) {
        return name.toUpperCase(Locale.ROOT);
    }

    /** Whether this binds every interface of the machine. */
    public boolean bindsEveryInterface() {
        return host.isEmpty() || host.equals("0.0.0.0") || host.equals("::");
    }

    /** Whether other machines can reach it. A name that does not resolve may be that of any address. */
    public boolean isOpen() {
        if (bindsEveryInterface()) {
            return true;
        }
        try {
            return !Arrays.stream(InetAddress.getAllByName(host)).allMatch(InetAddress::isLoopbackAddress);
        } catch (UnknownHostException unknown) {
            return true;
        }
    }

    /** The address for a program on this machine: {@code host:port}. */
    public String reachableHere() {
        return bindsEveryInterface() ? "localhost:" + port : address();
    }

    /** The address without the name of the listener: {@code host:port}. */
    public String address() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    /** The same listener with the port that it is bound to. */
    public ListenerAddress withPort(int boundPort) {
        return new ListenerAddress(name, host, boundPort);
    }

    @Override
    public String toString() {
        return name + "://" + address();
    }
}
