package io.journalq.client.admin;

import static io.journalq.client.internal.check.Arguments.notNull;

/**
 * An incremental change of a configuration (KIP-339). Immutable.
 *
 * @param value the value, or null for {@link Operation#DELETE}
 */
public record ConfigChange(String name, Operation operation, String value) {
    /** The operation, with its number in the protocol. */
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
        notNull(name, "name");
        notNull(operation, "operation");
    }

    public static ConfigChange set(String name, String value) {
        return new ConfigChange(name, Operation.SET, value);
    }

    /** Resets the configuration to its default. */
    public static ConfigChange delete(String name) {
        return new ConfigChange(name, Operation.DELETE, null);
    }
}
