package io.journalq.client.admin;

/**
 * An effective configuration of a topic, broker or group. Immutable.
 *
 * @param value the value, or null if it is sensitive or not set
 * @param source the origin of the value
 * @param documentation the description, or null if the broker does not report it
 */
public record ConfigEntry(
        String name, String value, Source source, boolean readOnly, boolean sensitive, String documentation) {
    /** The origin of a value, with the names of the protocol. */
    public enum Source {
        UNKNOWN,
        DYNAMIC_TOPIC_CONFIG,
        DYNAMIC_BROKER_CONFIG,
        DYNAMIC_DEFAULT_BROKER_CONFIG,
        STATIC_BROKER_CONFIG,
        DEFAULT_CONFIG,
        DYNAMIC_BROKER_LOGGER_CONFIG,
        CLIENT_METRICS_CONFIG,
        GROUP_CONFIG;

        /** Returns the source with this number in the protocol, or {@link #UNKNOWN} if there is none. */
        public static Source of(byte code) {
            Source[] all = values();
            return code > 0 && code < all.length ? all[code] : UNKNOWN;
        }
    }

    /** Whether the value is the default. */
    public boolean isDefault() {
        return source == Source.DEFAULT_CONFIG;
    }
}
