package io.journalq.client.fake;

/** What a fake broker does wrong with one request. */
public enum Fault {
    NONE,
    /** The connection breaks before the request is looked at. */
    DROP_BEFORE,
    /** The request is carried out, and the connection breaks before the answer. */
    DROP_AFTER,
    /** The request is carried out, and the connection breaks in the middle of the answer. */
    DROP_IN_ANSWER,
    /** Refused: another broker leads. */
    NOT_LEADER,
    /** The request is carried out, and answered as timed out. */
    TIMED_OUT,
    /** The request is carried out, and the answer comes late. */
    DELAY,
    /** The connection stays open, and nothing more is read from it until the broker is closed. */
    DEAF
}
