package io.journalq.server.config;

/**
 * The type of a setting's value, with the code by which DescribeConfigs reports it.
 *
 * <p>Source: KIP-569.
 */
public enum ConfigType {
    BOOLEAN(1),
    STRING(2),
    INT(3),
    LONG(5),
    DOUBLE(6),
    LIST(7);

    private final byte code;

    ConfigType(int code) {
        this.code = (byte) code;
    }

    /** The code on the wire. */
    public byte code() {
        return code;
    }
}
