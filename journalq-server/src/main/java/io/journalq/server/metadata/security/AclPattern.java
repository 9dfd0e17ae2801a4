package io.journalq.server.metadata.security;

/**
 * How the name in an ACL or in a filter relates to the names of resources, with its number on the wire.
 *
 * <p>Source: {@code PatternType} of Kafka 4.3 (KIP-290).
 */
public enum AclPattern {
    /** In filters only: ACLs with any pattern. */
    ANY(1),
    /** In filters only: ACLs that apply to a resource of this name. */
    MATCH(2),
    /** The resource of this name. {@link #EVERY_NAME} stands for all resources. */
    LITERAL(3),
    /** All resources whose names begin with this text. */
    PREFIXED(4);

    /** The name in a literal ACL that stands for all resources of its type. */
    public static final String EVERY_NAME = "*";

    private static final AclPattern[] BY_CODE = {null, ANY, MATCH, LITERAL, PREFIXED};

    private final byte code;

    AclPattern(int code) {
        this.code = (byte) code;
    }

    /** The number on the wire and in the metadata log. */
    public byte code() {
        return code;
    }

    /** The pattern with this number; null if there is none. */
    public static AclPattern of(byte code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }

    /** Whether an ACL can have this pattern. */
    public boolean isSpecific() {
        return this == LITERAL || this == PREFIXED;
    }
}
