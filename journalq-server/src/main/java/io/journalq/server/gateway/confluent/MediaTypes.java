package io.journalq.server.gateway.confluent;

/** The media types of the API v2 of Confluent's REST proxy. */
final class MediaTypes {
    /** Everything that is not records. */
    static final String V2 = "application/vnd.kafka.v2+json";

    /** Records whose keys and values are JSON. */
    static final String JSON_V2 = "application/vnd.kafka.json.v2+json";

    /** Records whose keys and values are bytes in Base64. */
    static final String BINARY_V2 = "application/vnd.kafka.binary.v2+json";

    private MediaTypes() {}
}
