/**
 * Private keys and certificates for TLS, as brokers, clients and commands read them from files: PEM (RFC 7468) and
 * PKCS12. The messages of errors contain nothing of a file or a password. Knows no files, sockets and settings.
 */
package io.journalq.common.tls;
