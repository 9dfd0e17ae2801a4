package io.journalq.client;

/** How many replicas must have a record before the broker acknowledges it. */
public enum Acks {
    /** None. The send completes when the client has written the request, and the offset of the record is unknown. */
    NONE((short) 0),
    /** The leader of the partition. The delivery mode of the topic determines when the leader acknowledges. */
    LEADER((short) 1),
    /** All in-sync replicas. */
    ALL((short) -1);

    private final short code;

    Acks(short code) {
        this.code = code;
    }

    /** The value in the Produce request. */
    public short code() {
        return code;
    }
}
