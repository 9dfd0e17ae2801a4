package io.journalq.common.protocol;

/** The body of a response that can throttle the client. */
public interface ThrottledMessage extends ApiMessage {
    /** Sets the time that the client has to wait before its next request, in milliseconds; 0 for no throttling. */
    ThrottledMessage setThrottleTimeMs(int throttleTimeMs);
}
