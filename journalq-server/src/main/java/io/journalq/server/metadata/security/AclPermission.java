package io.journalq.server.metadata.security;

/**
 * Whether an ACL allows or denies, with its number on the wire.
 *
 * <p>Source: {@code AclPermissionType} of Kafka 4.3.
 */
public enum AclPermission {
    /** In filters only. */
    ANY(1),
    DENY(2),
    ALLOW(3);

    private static final AclPermission[] BY_CODE = {null, ANY, DENY, ALLOW};

    private final byte code;

    AclPermission(int code) {
        this.code = (byte) code;
    }

    /** The number on the wire and in the metadata log. */
    public byte code() {
        return code;
    }

    /** The permission with this number; null if there is none. */
    public static AclPermission of(byte code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }

    /** Whether an ACL can have this permission. */
    public boolean isSpecific() {
        return this != ANY;
    }
}
