package io.journalq.client.admin;

/**
 * One config of a topic or a broker, as in force. Immutable.
 *
 * @param value null when it is sensitive, or not set
 * @param source where the value comes from
 * @param documentation null when the broker does not tell
 */
public record ConfigEntry(
        String name, String value, Source source, boolean readOnly, boolean sensitive, String documentation) {
    /** Where a value comes from; the names are the protocol's. */
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

        /** The source of a number on the wire; {@link #UNKNOWN} for one that this client does not know. */
        public static Source of(byte code) {
            Source[] all = values();
            return code > 0 && code < all.length ? all[code] : UNKNOWN;
        }
    }

    /** Whether nobody has set it. */
    public boolean isDefault() {
        return source == Source.DEFAULT_CONFIG;
    }
}
