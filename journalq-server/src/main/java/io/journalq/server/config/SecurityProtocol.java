package io.journalq.server.config;

/**
 * What a client has to do on a listener before its requests are served: encrypt, authenticate, both or neither.
 *
 * <p>Source: {@code SecurityProtocol} of Kafka.
 */
public enum SecurityProtocol {
    /** Neither encrypted nor authenticated. */
    PLAINTEXT(false),
    /** Encrypted by TLS. The client may have to present a certificate. */
    SSL(true),
    /** Authenticated by SASL, not encrypted. */
    SASL_PLAINTEXT(false),
    /** Encrypted by TLS and authenticated by SASL. */
    SASL_SSL(true);

    private final boolean encrypted;

    SecurityProtocol(boolean encrypted) {
        this.encrypted = encrypted;
    }

    /** Whether the connections of the listener use TLS. */
    public boolean isEncrypted() {
        return encrypted;
    }
}
