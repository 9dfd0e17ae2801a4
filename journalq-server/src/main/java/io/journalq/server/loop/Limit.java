package io.journalq.server.loop;

/** What clients may not go beyond. Each is counted when somebody does; {@code docs/operations.md} says what happens then. */
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
    /** {@code group.max.size} or {@code group.max.count}: the protocol has one error for both. */
    GROUPS("group.max"),
    /** What a group is to remember of a member, which is no setting. */
    GROUP_MEMBER("group.member"),
    OFFSET_METADATA("offset.metadata.max.bytes");

    private final String label;

    Limit(String label) {
        this.label = label;
    }

    /** Name of the setting, as metrics show it. */
    public String label() {
        return label;
    }
}
