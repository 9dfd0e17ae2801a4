package io.journalq.client.admin;

/**
 * Whose configs are meant. Immutable.
 *
 * @param name the topic's name, the group's id, the subscription's name, or the broker's id in digits; empty means every
 *     broker's default
 */
public record ConfigResource(Type type, String name) {
    /** Kinds of resource, with their numbers on the wire. */
    public enum Type {
        TOPIC(2),
        BROKER(4),
        /** A subscription of client metrics (KIP-714). */
        CLIENT_METRICS(16),
        GROUP(32);

        private final byte code;

        Type(int code) {
            this.code = (byte) code;
        }

        public byte code() {
            return code;
        }
    }

    public static ConfigResource topic(String name) {
        return new ConfigResource(Type.TOPIC, name);
    }

    public static ConfigResource broker(int id) {
        return new ConfigResource(Type.BROKER, Integer.toString(id));
    }

    public static ConfigResource group(String id) {
        return new ConfigResource(Type.GROUP, id);
    }

    @Override
    public String toString() {
        return switch (type) {
            case TOPIC -> "topic " + name;
            case BROKER -> name.isEmpty() ? "every broker" : "broker " + name;
            case CLIENT_METRICS -> "client metrics " + name;
            case GROUP -> "group " + name;
        };
    }
}
