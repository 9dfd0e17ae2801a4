package io.journalq.server.config;

import java.util.List;
import java.util.Locale;

/**
 * A setting of one listener: {@code listener.name.<name>.<key>}, which applies there instead of {@code <key>}. The name
 * is written in lower case, as in Kafka. Immutable.
 *
 * @param listener name of the listener, in upper case
 * @param key the setting
 */
record ListenerScope(String listener, ConfigKey<?> key) {
    private static final String PREFIX = "listener.name.";

    /** The settings that a listener can have for itself. */
    static final List<ConfigKey<?>> KEYS = List.of(
            ListenerSettings.SSL_KEYSTORE_LOCATION,
            ListenerSettings.SSL_KEYSTORE_TYPE,
            ListenerSettings.SSL_KEYSTORE_PASSWORD_FILE,
            ListenerSettings.SSL_KEY_PASSWORD_FILE,
            ListenerSettings.SSL_TRUSTSTORE_LOCATION,
            ListenerSettings.SSL_TRUSTSTORE_TYPE,
            ListenerSettings.SSL_TRUSTSTORE_PASSWORD_FILE,
            ListenerSettings.SSL_CLIENT_AUTH,
            ListenerSettings.SSL_ENABLED_PROTOCOLS,
            ListenerSettings.SSL_CIPHER_SUITES,
            ListenerSettings.SSL_KEYSTORE_PASSWORD,
            ListenerSettings.SSL_KEY_PASSWORD,
            ListenerSettings.SSL_TRUSTSTORE_PASSWORD,
            ListenerSettings.SSL_KEYSTORE_KEY,
            ListenerSettings.SASL_ENABLED_MECHANISMS,
            ListenerSettings.SASL_JAAS_CONFIG);

    static boolean isOne(String name) {
        return name.startsWith(PREFIX);
    }

    /**
     * Parses a name that begins with the prefix.
     *
     * @throws ConfigException when it names no listener, or a setting that a listener cannot have for itself
     */
    static ListenerScope parse(String name) throws ConfigException {
        String rest = name.substring(PREFIX.length());
        int dot = rest.indexOf('.');
        if (dot > 0) {
            String key = rest.substring(dot + 1);
            for (ConfigKey<?> known : KEYS) {
                if (known.name().equals(key)) {
                    return new ListenerScope(ListenerAddress.canonicalName(rest.substring(0, dot)), known);
                }
            }
        }
        throw new ConfigException("'" + name + "' must be listener.name.<name>. and one of "
                + String.join(", ", KEYS.stream().map(ConfigKey::name).toList()));
    }

    /** The listener of a setting whose name is one. */
    static String listenerOf(String name) {
        return ListenerAddress.canonicalName(name.substring(PREFIX.length(), name.indexOf('.', PREFIX.length())));
    }

    /** The name of the setting. */
    String name() {
        return nameOf(listener, key);
    }

    static String nameOf(String listener, ConfigKey<?> key) {
        return PREFIX + listener.toLowerCase(Locale.ROOT) + "." + key.name();
    }
}
