package io.journalq.server.metadata;

import java.util.Comparator;

/**
 * What has settings of its own besides topics: a group, a subscription of client metrics, a broker, a feature. Immutable.
 *
 * @param kind what kind of thing
 * @param name which one; empty for all brokers
 */
public record ResourceId(Kind kind, String name) implements Comparable<ResourceId> {
    private static final Comparator<ResourceId> ORDER =
            Comparator.comparing(ResourceId::kind).thenComparing(ResourceId::name);

    /** Kinds, each with its number in the protocol where it has one. */
    public enum Kind {
        BROKER(4),
        CLIENT_METRICS(16),
        GROUP(32),
        /** A feature that clients choose by; it is none of those that the protocol has settings of. */
        FEATURE(127);

        private final byte code;

        Kind(int code) {
            this.code = (byte) code;
        }

        /** The number on the wire and in records. */
        public byte code() {
            return code;
        }

        /** The kind of that number; null when there is none. */
        public static Kind of(byte code) {
            for (Kind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            return null;
        }
    }

    @Override
    public int compareTo(ResourceId other) {
        return ORDER.compare(this, other);
    }
}
