package io.journalq.server.metadata;

import java.util.Comparator;

/**
 * A configurable resource other than a topic: a group, a subscription of client metrics, a broker or a feature.
 * Immutable.
 *
 * @param kind the type of the resource
 * @param name its name; empty for all brokers
 */
public record ResourceId(Kind kind, String name) implements Comparable<ResourceId> {
    private static final Comparator<ResourceId> ORDER =
            Comparator.comparing(ResourceId::kind).thenComparing(ResourceId::name);

    /** Resource types, with their numbers in the protocol if they have one. */
    public enum Kind {
        BROKER(4),
        CLIENT_METRICS(16),
        GROUP(32),
        /** A feature that clients can select; the protocol has no such resource type. */
        FEATURE(127);

        private final byte code;

        Kind(int code) {
            this.code = (byte) code;
        }

        /** The number on the wire and in records. */
        public byte code() {
            return code;
        }

        /** The type with this number; null if there is none. */
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
