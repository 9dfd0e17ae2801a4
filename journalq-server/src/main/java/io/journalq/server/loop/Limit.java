package io.journalq.server.loop;

/**
 * Limits for clients. The broker counts each violation. {@code docs/guides/operations.md} describes the consequences.
 */
public enum Limit {
    REQUEST_BYTES("socket.request.max.bytes"),
    REQUEST_ENTRIES("request.max.entries"),
    CONNECTION_REQUESTS("connection.queued.max.requests"),
    CONNECTION_BYTES("connection.in.flight.max.bytes"),
    TOTAL_BYTES("total.in.flight.max.bytes"),
    BATCH_BYTES("max.message.bytes"),
    DECOMPRESSED_BYTES("max.decompressed.bytes"),
    MESSAGE_HEADERS("max.message.headers"),
    FETCH_SESSION_PARTITIONS("fetch.sessions.max.partitions"),
    /**
     * Fetch sessions of one connection. Not a setting; neither are the following limits, unless they have the name of
     * one.
     */
    FETCH_SESSIONS("fetch.sessions"),
    TOPIC_NAME("topic.name"),
    TOPIC_PARTITIONS("max.partitions.per.topic"),
    PARTITIONS("max.partitions"),
    AUTO_CREATION_RATE("auto.create.topics.max.rate"),
    /** Idempotent producers that one partition remembers. */
    PARTITION_PRODUCERS("partition.producers"),
    /** Open transactions of one partition. */
    PARTITION_TRANSACTIONS("partition.transactions"),
    /** {@code group.max.size} or {@code group.max.count}: the protocol has one error for both. */
    GROUPS("group.max"),
    /** Length of a group id. */
    GROUP_ID("group.id"),
    /** Size of the data that a group stores for a member. */
    GROUP_MEMBER("group.member"),
    OFFSET_METADATA("offset.metadata.max.bytes"),
    /** Length of a transactional id. */
    TRANSACTIONAL_ID("transactional.id"),
    /** Number of transactional ids of one coordinator. */
    TRANSACTIONAL_IDS("transactional.ids"),
    /** Complexity of a pattern. */
    PATTERN("pattern");

    private final String label;

    Limit(String label) {
        this.label = label;
    }

    /** The value of the metrics label: the name of the setting, or of what is limited. */
    public String label() {
        return label;
    }
}
