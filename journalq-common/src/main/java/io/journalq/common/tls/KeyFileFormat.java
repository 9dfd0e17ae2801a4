package io.journalq.common.tls;

/** The format of a file of keys or certificates. */
public enum KeyFileFormat {
    /** Text: certificates, and a PKCS #8 key that may be encrypted. */
    PEM,
    PKCS12
}
