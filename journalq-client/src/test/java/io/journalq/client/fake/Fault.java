package io.journalq.client.fake;

/** What a fake broker does wrong with one request. */
public enum Fault {
    NONE,
    /** The connection breaks before the request is looked at. */
    DROP_BEFORE,
    /** The request is carried out, and the connection breaks before the response. */
    DROP_AFTER,
    /** The request is carried out, and the connection breaks in the middle of the response. */
    DROP_IN_RESPONSE,
    /** Refused: another broker leads. */
    NOT_LEADER,
    /** The request is carried out, and the response says that it timed out. */
    TIMED_OUT,
    /** The request is carried out, and the response comes late. */
    DELAY,
    /** The connection stays open, and nothing more is read from it until the broker is closed. */
    DEAF
}
