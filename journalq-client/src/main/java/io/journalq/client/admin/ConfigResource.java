package io.journalq.client.admin;

/**
 * Whose configs are meant. Immutable.
 *
 * @param name the topic's name, or the broker's id in digits; empty means every broker's default
 */
public record ConfigResource(Type type, String name) {
    /** Kinds of resource, with their numbers on the wire. */
    public enum Type {
        TOPIC(2),
        BROKER(4);

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

    @Override
    public String toString() {
        return (type == Type.TOPIC ? "topic " : "broker ") + name;
    }
}
