package io.journalq.server.config;

/**
 * What a client has to do on a listener before its requests are served: encrypt, authenticate, both or neither.
 *
 * <p>Source: {@code SecurityProtocol} of Kafka.
 */
public enum SecurityProtocol {
    /** Neither encrypted nor authenticated. */
    PLAINTEXT(false, false),
    /** Encrypted by TLS. The client may have to present a certificate. */
    SSL(true, false),
    /** Authenticated by SASL, not encrypted. */
    SASL_PLAINTEXT(false, true),
    /** Encrypted by TLS and authenticated by SASL. */
    SASL_SSL(true, true);

    private final boolean encrypted;
    private final boolean sasl;

    SecurityProtocol(boolean encrypted, boolean sasl) {
        this.encrypted = encrypted;
        this.sasl = sasl;
    }

    /** Whether clients have to log in by SASL. */
    public boolean usesSasl() {
        return sasl;
    }

    /** Whether the connections of the listener use TLS. */
    public boolean isEncrypted() {
        return encrypted;
    }
}
