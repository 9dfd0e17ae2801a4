package io.journalq.client.admin;

import java.util.Objects;

/**
 * One incremental change of a config (KIP-339). Immutable.
 *
 * @param value null for {@link Operation#DELETE}
 */
public record ConfigChange(String name, Operation operation, String value) {
    /** What to do, with its number on the wire. */
    public enum Operation {
        SET(0),
        DELETE(1),
        APPEND(2),
        SUBTRACT(3);

        private final byte code;

        Operation(int code) {
            this.code = (byte) code;
        }

        public byte code() {
            return code;
        }
    }

    public ConfigChange {
        Objects.requireNonNull(name, "a config has a name");
        Objects.requireNonNull(operation, "a change has an operation");
    }

    public static ConfigChange set(String name, String value) {
        return new ConfigChange(name, Operation.SET, value);
    }

    /** Back to the default. */
    public static ConfigChange delete(String name) {
        return new ConfigChange(name, Operation.DELETE, null);
    }
}
