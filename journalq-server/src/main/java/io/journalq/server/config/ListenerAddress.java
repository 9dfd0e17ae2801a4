package io.journalq.server.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a listener binds, or how clients are told to reach it: {@code NAME://host:port}.
 *
 * @param name the listener's name, by which an advertised address finds the one that binds
 * @param host host name or address; IPv6 without brackets; empty for every interface
 * @param port 0 to 65535; 0 takes any free port
 */
public record ListenerAddress(String name, String host, int port) {
    private static final Pattern FORM =
            Pattern.compile("(?:([A-Za-z][A-Za-z0-9_]*)://)?(?:\\[(.+)]|([^:\\[\\]/]*)):(\\d{1,5})");
    private static final int HIGHEST_PORT = 65_535;

    /** The only security protocol that is spoken so far, and the name of a listener that gives none. */
    public static final String PLAINTEXT = "PLAINTEXT";

    /** Reads {@code NAME://host:port} or {@code host:port}. */
    public static ListenerAddress parse(String text) throws ConfigException {
        Matcher matcher = FORM.matcher(text.strip());
        if (!matcher.matches()) {
            throw new ConfigException("'" + text + "' must be of the form PLAINTEXT://host:port");
        }
        int port = Integer.parseInt(matcher.group(4));
        if (port > HIGHEST_PORT) {
            throw new ConfigException("the port of '" + text + "' must be from 0 to " + HIGHEST_PORT);
        }
        String name = matcher.group(1) == null ? PLAINTEXT : matcher.group(1);
        return new ListenerAddress(name, matcher.group(2) == null ? matcher.group(3) : matcher.group(2), port);
    }

    /** Whether this binds every interface of the machine. */
    public boolean bindsEveryInterface() {
        return host.isEmpty() || host.equals("0.0.0.0") || host.equals("::");
    }

    /** Where a program on this machine reaches it: {@code host:port}. */
    public String reachableHere() {
        String reached = bindsEveryInterface() ? "localhost" : host;
        return (reached.contains(":") ? "[" + reached + "]" : reached) + ":" + port;
    }

    /** The same listener at the port that it was given when it asked for any. */
    public ListenerAddress withPort(int boundPort) {
        return new ListenerAddress(name, host, boundPort);
    }

    @Override
    public String toString() {
        return name + "://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}
