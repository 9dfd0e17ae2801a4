package io.journalq.server.api;

/** The operations that a client may perform, as bits of KIP-430. Without an authorizer, these are all operations. */
public final class AuthorizedOperations {
    private static final int READ = 1 << 3;
    private static final int WRITE = 1 << 4;
    private static final int CREATE = 1 << 5;
    private static final int DELETE = 1 << 6;
    private static final int ALTER = 1 << 7;
    private static final int DESCRIBE = 1 << 8;
    private static final int CLUSTER_ACTION = 1 << 9;
    private static final int DESCRIBE_CONFIGS = 1 << 10;
    private static final int ALTER_CONFIGS = 1 << 11;
    private static final int IDEMPOTENT_WRITE = 1 << 12;

    /** All operations on a topic. */
    public static final int OF_TOPIC =
            READ | WRITE | CREATE | DELETE | ALTER | DESCRIBE | DESCRIBE_CONFIGS | ALTER_CONFIGS;

    /** All operations on the cluster. */
    public static final int OF_CLUSTER =
            CREATE | ALTER | DESCRIBE | CLUSTER_ACTION | DESCRIBE_CONFIGS | ALTER_CONFIGS | IDEMPOTENT_WRITE;

    /** All operations on a group. */
    public static final int OF_GROUP = READ | DELETE | DESCRIBE;

    private AuthorizedOperations() {}
}
