package io.journalq.server.gateway.problem;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.Map;

/**
 * A problem document (RFC 9457).
 *
 * @param detail what is wrong with this request
 * @param remedy what the client can do
 * @param headers additional headers of the response
 */
public record Problem(ProblemType type, String detail, String remedy, Map<String, String> headers) {
    /** The media type of problem documents. */
    public static final String MEDIA_TYPE = "application/problem+json";

    private static final String TYPE_PREFIX = "urn:journalq:problem:";

    /** A problem without additional headers. */
    public Problem(ProblemType type, String detail, String remedy) {
        this(type, detail, remedy, Map.of());
    }

    /** The client does not have a right. An operator finds the reason by the event that {@code detail} names. */
    public static Problem denied(String detail) {
        return new Problem(ProblemType.NOT_ALLOWED, detail, "ask an administrator for the right");
    }

    /** Writes the members of the document, without its braces. */
    public void writeMembers(JsonGenerator json) throws IOException {
        json.writeStringField("type", TYPE_PREFIX + type.label());
        json.writeStringField("title", type.title());
        json.writeNumberField("status", type.status().code());
        json.writeStringField("detail", detail);
        json.writeStringField("remedy", remedy);
    }

    /** The problem as an exception that ends the processing of a request. */
    public ProblemException exception() {
        return new ProblemException(this);
    }
}
