package io.journalq.client.admin;

import static io.journalq.client.internal.check.Arguments.notNull;

/**
 * An access control list entry (ACL): allows or denies an operation on resources to a principal. Immutable.
 *
 * @param resourceName the name of the resource, or a prefix of names; {@code *} with {@link PatternType#LITERAL} stands
 *     for all resources of the type; that of the cluster is {@link #CLUSTER_NAME}
 * @param principal {@code User:name}; {@code User:*} stands for all users
 * @param host the IP address of the client; {@code *} stands for all hosts
 */
public record AclBinding(
        ResourceType resourceType,
        PatternType patternType,
        String resourceName,
        String principal,
        String host,
        Operation operation,
        Permission permission) {
    /** The name of the cluster in ACLs. */
    public static final String CLUSTER_NAME = "kafka-cluster";

    /** Stands for all names, and for all hosts. */
    public static final String EVERY = "*";

    /** What an ACL protects, with its number in the protocol. */
    public enum ResourceType {
        TOPIC(2),
        GROUP(3),
        CLUSTER(4),
        TRANSACTIONAL_ID(5),
        /** Not in JournalQ. */
        DELEGATION_TOKEN(6),
        /** Not in JournalQ. */
        USER(7);

        private final byte code;

        ResourceType(int code) {
            this.code = (byte) code;
        }

        public byte code() {
            return code;
        }
    }

    /** How the name in an ACL relates to names of resources (KIP-290), with its number in the protocol. */
    public enum PatternType {
        /** The name of one resource. */
        LITERAL(3),
        /** The beginning of names. */
        PREFIXED(4);

        private final byte code;

        PatternType(int code) {
            this.code = (byte) code;
        }

        public byte code() {
            return code;
        }
    }

    /** What an ACL allows or denies, with its number in the protocol. */
    public enum Operation {
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
        /** Not in JournalQ. */
        CREATE_TOKENS(13),
        /** Not in JournalQ. */
        DESCRIBE_TOKENS(14),
        TWO_PHASE_COMMIT(15);

        private final byte code;

        Operation(int code) {
            this.code = (byte) code;
        }

        public byte code() {
            return code;
        }
    }

    /** Whether an ACL allows or denies, with its number in the protocol. One that denies wins. */
    public enum Permission {
        DENY(2),
        ALLOW(3);

        private final byte code;

        Permission(int code) {
            this.code = (byte) code;
        }

        public byte code() {
            return code;
        }
    }

    public AclBinding {
        notNull(resourceType, "resourceType");
        notNull(patternType, "patternType");
        notNull(resourceName, "resourceName");
        notNull(principal, "principal");
        notNull(host, "host");
        notNull(operation, "operation");
        notNull(permission, "permission");
    }

    @Override
    public String toString() {
        return permission + " " + operation + " on " + resourceType + " '" + resourceName + "'"
                + (patternType == PatternType.PREFIXED ? " (prefix)" : "") + " to " + principal
                + (host.equals(EVERY) ? "" : " from " + host);
    }
}
