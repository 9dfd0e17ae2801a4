package io.journalq.common.protocol;

/** The body of a request or response. */
public interface ApiMessage extends Message {
    /** The API of the message. */
    ApiKey apiKey();
}
