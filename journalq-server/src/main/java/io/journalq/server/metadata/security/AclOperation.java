package io.journalq.server.metadata.security;

/**
 * What an ACL allows or denies, with its number on the wire.
 *
 * <p>Source: {@code AclOperation} of Kafka 4.3. The operations on delegation tokens are missing, because the broker has
 * none.
 */
public enum AclOperation {
    ANY(1),
    ALL(2),
    READ(3),
    WRITE(4),
    CREATE(5),
    DELETE(6),
    ALTER(7),
    DESCRIBE(8),
    CLUSTER_ACTION(9),
    DESCRIBE_CONFIGS(10),
    ALTER_CONFIGS(11),
    IDEMPOTENT_WRITE(12),
    TWO_PHASE_COMMIT(15);

    private static final AclOperation[] BY_CODE = byCode();

    private final byte code;

    AclOperation(int code) {
        this.code = (byte) code;
    }

    /** The number on the wire and in the metadata log. */
    public byte code() {
        return code;
    }

    /** The operation with this number; null if there is none. */
    public static AclOperation of(byte code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }

    /** Whether an ACL can name this operation. {@link #ANY} is for filters only. */
    public boolean isSpecific() {
        return this != ANY;
    }

    private static AclOperation[] byCode() {
        AclOperation[] operations = new AclOperation[TWO_PHASE_COMMIT.code + 1];
        for (AclOperation operation : values()) {
            operations[operation.code] = operation;
        }
        return operations;
    }
}
