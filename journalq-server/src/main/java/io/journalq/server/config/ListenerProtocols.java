package io.journalq.server.config;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The security protocol of each listener, by the name of the listener: {@code listener.security.protocol.map}. A
 * listener whose protocol is unknown is refused. It never becomes a plain one. Stateless.
 */
final class ListenerProtocols {
    /** Each protocol is the name of a listener with this protocol, as in Kafka. */
    static final List<String> DEFAULT = Arrays.stream(SecurityProtocol.values())
            .map(protocol -> protocol + ":" + protocol)
            .toList();

    private static final Pattern FORM = Pattern.compile("([A-Za-z][A-Za-z0-9_]*):([A-Za-z_]+)");

    private ListenerProtocols() {}

    /** Reads one item, {@code NAME:PROTOCOL}, and returns it in canonical form. */
    static String readItem(String text) throws ConfigException {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new ConfigException("'" + text + "' must be of the form NAME:PROTOCOL");
        }
        String protocol = matcher.group(2).toUpperCase(Locale.ROOT);
        if (Arrays.stream(SecurityProtocol.values())
                .noneMatch(known -> known.name().equals(protocol))) {
            throw new ConfigException("'" + matcher.group(2) + "' is not a security protocol; the protocols are "
                    + String.join(
                            ", ",
                            Arrays.stream(SecurityProtocol.values())
                                    .map(Enum::name)
                                    .toList()));
        }
        return ListenerAddress.canonicalName(matcher.group(1)) + ":" + protocol;
    }

    /**
     * The protocol of the listener of a name.
     *
     * @param items of the setting, as {@link #readItem} returned them
     */
    static SecurityProtocol of(String listenerName, List<String> items) throws ConfigException {
        Map<String, SecurityProtocol> byName = new TreeMap<>();
        for (String item : items) {
            int colon = item.indexOf(':');
            String name = item.substring(0, colon);
            SecurityProtocol protocol = SecurityProtocol.valueOf(item.substring(colon + 1));
            if (byName.put(name, protocol) != null) {
                throw new ConfigException("listener.security.protocol.map: " + name + " has two protocols");
            }
        }
        SecurityProtocol protocol = byName.get(listenerName);
        if (protocol == null) {
            throw new ConfigException("listener.security.protocol.map: the listener " + listenerName
                    + " has no security protocol; add " + listenerName + ":" + example(listenerName)
                    + " or another protocol");
        }
        return protocol;
    }

    /** The protocol that has the name of a listener, as it would be without this setting. */
    private static SecurityProtocol example(String listenerName) {
        for (SecurityProtocol protocol : SecurityProtocol.values()) {
            if (protocol.name().equals(listenerName)) {
                return protocol;
            }
        }
        return SecurityProtocol.PLAINTEXT;
    }
}
