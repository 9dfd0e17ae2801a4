package io.journalq.common.protocol;

/** The body of a request or of a response. */
public interface ApiMessage extends Message {
    /** The API it belongs to. */
    ApiKey apiKey();
}
