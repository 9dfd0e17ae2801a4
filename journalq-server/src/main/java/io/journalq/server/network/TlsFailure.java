package io.journalq.server.network;

/**
 * Why TLS ended a connection. The texts are fixed: what a stranger sends to a TLS listener, perhaps a password in plain
 * text, appears neither in the log nor in a metric.
 */
public enum TlsFailure {
    /** The first bytes are not those of TLS. */
    NOT_TLS("not_tls", "the client does not speak TLS; this listener is encrypted"),
    /** The client took too long. */
    TIMEOUT("timeout", "no TLS handshake within the time limit"),
    /** The client has no certificate, or one that is not trusted. */
    CERTIFICATE("certificate", "the client has no certificate, or one that is not trusted"),
    /** Too many handshakes wait for a thread. */
    OVERLOAD("overload", "too many TLS handshakes at the same time"),
    /** No common version or cipher, a broken record, or an alert of the client. */
    PROTOCOL("protocol", "the TLS handshake failed, or a record is invalid"),
    /** The client closed the connection during the handshake. */
    DISCONNECTED("disconnected", "the client closed the connection during the TLS handshake"),
    /** The truststore has changed and no longer covers the certificate of the client. */
    NO_LONGER_TRUSTED("no_longer_trusted", "the certificate of the client is no longer trusted");

    private final String label;
    private final String reason;

    TlsFailure(String label, String reason) {
        this.label = label;
        this.reason = reason;
    }

    /** The value of the label {@code reason} in the metrics. */
    public String label() {
        return label;
    }

    /** The reason in a log line. */
    public String reason() {
        return reason;
    }
}
