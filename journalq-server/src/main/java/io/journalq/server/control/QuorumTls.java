package io.journalq.server.control;

import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * The keys of a voter, and its trust in the others. Both follow the files of keys and certificates.
 *
 * @param trust accepts certificates of brokers only
 */
public record QuorumTls(X509ExtendedKeyManager keys, X509ExtendedTrustManager trust) {}
