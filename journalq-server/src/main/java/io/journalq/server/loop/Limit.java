package io.journalq.server.loop;

/** What clients may not go beyond. Each is counted when somebody does; {@code docs/guides/operations.md} says what happens then. */
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
    /** Of one connection; no setting, like all that follow and are not named as one. */
    FETCH_SESSIONS("fetch.sessions"),
    TOPIC_NAME("topic.name"),
    TOPIC_PARTITIONS("max.partitions.per.topic"),
    PARTITIONS("max.partitions"),
    AUTO_CREATION_RATE("auto.create.topics.max.rate"),
    /** Idempotent producers that one partition remembers. */
    PARTITION_PRODUCERS("partition.producers"),
    /** Transactions that are open in one partition. */
    PARTITION_TRANSACTIONS("partition.transactions"),
    /** {@code group.max.size} or {@code group.max.count}: the protocol has one error for both. */
    GROUPS("group.max"),
    /** Of a group's id. */
    GROUP_ID("group.id"),
    /** What a group is to remember of a member. */
    GROUP_MEMBER("group.member"),
    OFFSET_METADATA("offset.metadata.max.bytes"),
    /** Of a transactional id. */
    TRANSACTIONAL_ID("transactional.id"),
    /** How many of them one coordinator keeps. */
    TRANSACTIONAL_IDS("transactional.ids"),
    /** Of a pattern that is to be matched. */
    PATTERN("pattern");

    private final String label;

    Limit(String label) {
        this.label = label;
    }

    /** Name of the setting, or of what is limited, as metrics show it. */
    public String label() {
        return label;
    }
}
