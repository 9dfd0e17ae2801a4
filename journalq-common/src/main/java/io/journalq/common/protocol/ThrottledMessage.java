package io.journalq.common.protocol;

/** The body of a response that can tell its client to wait before it asks again. */
public interface ThrottledMessage extends ApiMessage {
    /** Sets how long the client is to wait, in ms; 0 for not at all. */
    ThrottledMessage setThrottleTimeMs(int throttleTimeMs);
}
