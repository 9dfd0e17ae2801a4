package io.journalq.client.admin;

import static io.journalq.client.internal.check.Arguments.notNull;

/**
 * A resource that has configurations. Immutable.
 *
 * @param name the name of the topic, the id of the group, the name of the client metrics subscription, or the id of the
 *     broker in digits; for brokers, an empty name stands for the defaults of all brokers
 */
public record ConfigResource(Type type, String name) {
    /** The type of a resource, with its number in the protocol. */
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

    public ConfigResource {
        notNull(type, "type");
        notNull(name, "name");
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
