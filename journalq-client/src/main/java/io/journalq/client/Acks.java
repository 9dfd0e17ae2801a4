package io.journalq.client;

/** Who must have a record before the broker acknowledges it. */
public enum Acks {
    /** No acknowledgement: the send is done when the bytes left; no offset is known. */
    NONE((short) 0),
    /** The partition's leader has it, as its topic's delivery mode demands. */
    LEADER((short) 1),
    /** Every in-sync replica has it. */
    ALL((short) -1);

    private final short code;

    Acks(short code) {
        this.code = code;
    }

    /** The value on the wire. */
    public short code() {
        return code;
    }
}
