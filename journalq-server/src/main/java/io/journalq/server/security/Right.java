package io.journalq.server.security;

import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclResourceType;

/** A right that an API may ask for: an operation on a resource of a type. */
public enum Right {
    READ_TOPIC(AclOperation.READ, AclResourceType.TOPIC),
    WRITE_TOPIC(AclOperation.WRITE, AclResourceType.TOPIC),
    CREATE_TOPIC(AclOperation.CREATE, AclResourceType.TOPIC),
    DELETE_TOPIC(AclOperation.DELETE, AclResourceType.TOPIC),
    ALTER_TOPIC(AclOperation.ALTER, AclResourceType.TOPIC),
    DESCRIBE_TOPIC(AclOperation.DESCRIBE, AclResourceType.TOPIC),
    DESCRIBE_TOPIC_CONFIGS(AclOperation.DESCRIBE_CONFIGS, AclResourceType.TOPIC),
    ALTER_TOPIC_CONFIGS(AclOperation.ALTER_CONFIGS, AclResourceType.TOPIC),
    READ_GROUP(AclOperation.READ, AclResourceType.GROUP),
    DELETE_GROUP(AclOperation.DELETE, AclResourceType.GROUP),
    DESCRIBE_GROUP(AclOperation.DESCRIBE, AclResourceType.GROUP),
    DESCRIBE_GROUP_CONFIGS(AclOperation.DESCRIBE_CONFIGS, AclResourceType.GROUP),
    ALTER_GROUP_CONFIGS(AclOperation.ALTER_CONFIGS, AclResourceType.GROUP),
    WRITE_TRANSACTIONAL_ID(AclOperation.WRITE, AclResourceType.TRANSACTIONAL_ID),
    DESCRIBE_TRANSACTIONAL_ID(AclOperation.DESCRIBE, AclResourceType.TRANSACTIONAL_ID),
    CREATE_ON_CLUSTER(AclOperation.CREATE, AclResourceType.CLUSTER),
    DELETE_ON_CLUSTER(AclOperation.DELETE, AclResourceType.CLUSTER),
    ALTER_CLUSTER(AclOperation.ALTER, AclResourceType.CLUSTER),
    DESCRIBE_CLUSTER(AclOperation.DESCRIBE, AclResourceType.CLUSTER),
    CLUSTER_ACTION(AclOperation.CLUSTER_ACTION, AclResourceType.CLUSTER),
    DESCRIBE_CLUSTER_CONFIGS(AclOperation.DESCRIBE_CONFIGS, AclResourceType.CLUSTER),
    ALTER_CLUSTER_CONFIGS(AclOperation.ALTER_CONFIGS, AclResourceType.CLUSTER),
    IDEMPOTENT_WRITE(AclOperation.IDEMPOTENT_WRITE, AclResourceType.CLUSTER);

    private final AclOperation operation;
    private final AclResourceType type;

    Right(AclOperation operation, AclResourceType type) {
        this.operation = operation;
        this.type = type;
    }

    public AclOperation operation() {
        return operation;
    }

    /** The type of the resource. */
    public AclResourceType type() {
        return type;
    }
}
