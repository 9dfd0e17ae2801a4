package io.journalq.server.metadata.security;

import static io.journalq.server.metadata.security.AclOperation.ALTER;
import static io.journalq.server.metadata.security.AclOperation.ALTER_CONFIGS;
import static io.journalq.server.metadata.security.AclOperation.CLUSTER_ACTION;
import static io.journalq.server.metadata.security.AclOperation.CREATE;
import static io.journalq.server.metadata.security.AclOperation.DELETE;
import static io.journalq.server.metadata.security.AclOperation.DESCRIBE;
import static io.journalq.server.metadata.security.AclOperation.DESCRIBE_CONFIGS;
import static io.journalq.server.metadata.security.AclOperation.IDEMPOTENT_WRITE;
import static io.journalq.server.metadata.security.AclOperation.READ;
import static io.journalq.server.metadata.security.AclOperation.TWO_PHASE_COMMIT;
import static io.journalq.server.metadata.security.AclOperation.WRITE;

/**
 * Types of resources that ACLs protect, with their numbers on the wire.
 *
 * <p>Source: {@code ResourceType} and {@code AclEntry.supportedOperations} of Kafka 4.3. Delegation tokens and the users
 * who may create them are missing.
 */
public enum AclResourceType {
    /** In filters only. */
    ANY(1),
    TOPIC(2, READ, WRITE, CREATE, DESCRIBE, DELETE, ALTER, DESCRIBE_CONFIGS, ALTER_CONFIGS),
    GROUP(3, READ, DESCRIBE, DELETE, DESCRIBE_CONFIGS, ALTER_CONFIGS),
    /** Its only name is {@link #CLUSTER_NAME}. */
    CLUSTER(4, CREATE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE, ALTER, DESCRIBE),
    TRANSACTIONAL_ID(5, DESCRIBE, WRITE, TWO_PHASE_COMMIT);

    /** The name of the cluster in ACLs. */
    public static final String CLUSTER_NAME = "kafka-cluster";

    private static final AclResourceType[] BY_CODE = {null, ANY, TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID};

    private final byte code;
    /** Bits by the numbers of the operations. */
    private final int operations;

    AclResourceType(int code, AclOperation... operations) {
        this.code = (byte) code;
        int bits = 0;
        for (AclOperation operation : operations) {
            bits |= 1 << operation.code();
        }
        this.operations = bits;
    }

    /** The number on the wire and in the metadata log. */
    public byte code() {
        return code;
    }

    /** Whether there is this operation on a resource of this type. */
    public boolean has(AclOperation operation) {
        return (operations & 1 << operation.code()) != 0;
    }

    /** The type with this number; null if there is none. */
    public static AclResourceType of(byte code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
