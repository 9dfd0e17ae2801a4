package io.journalq.client.internal.network;

import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.TlsFailedException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertPathValidatorException.BasicReason;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Locale;
import javax.net.ssl.SSLException;

/** Says what a failure of TLS means, and what to do about it. Stateless. */
final class TlsFailures {
    private TlsFailures() {}

    /** Whether a failure is one of TLS, and not of the connection below it. */
    static boolean isOne(Throwable cause) {
        return find(cause, SSLException.class) != null;
    }

    /** The exception for a handshake that did not complete, or for a connection that TLS has ended. */
    static JournalQException explain(HostAndPort address, Throwable cause) {
        CertificateException certificate = find(cause, CertificateException.class);
        if (certificate != null) {
            return new TlsFailedException(address + problemOf(certificate, cause, address.host()), cause);
        }
        if (find(cause, NotSslRecordException.class) != null) {
            return new TlsFailedException(
                    address + " does not speak TLS; use a listener of the security protocol SSL, or remove tls", cause);
        }
        if (find(cause, SslHandshakeTimeoutException.class) != null) {
            return new ConnectionFailedException(
                    address + " did not complete the TLS handshake within connectTimeout; check that the listener has"
                            + " the security protocol SSL, and the load of the broker",
                    cause);
        }
        SSLException failure = find(cause, SSLException.class);
        String text = failure == null || failure.getMessage() == null
                ? ""
                : failure.getMessage().toLowerCase(Locale.ROOT);
        if (text.contains("alert")) {
            return text.contains("certificate") || text.contains("unknown_ca") || text.contains("unknown ca")
                    ? new TlsFailedException(
                            address + " rejected the certificate of this client, or requires one; present a"
                                    + " certificate that the broker trusts, and see the log of the broker",
                            cause)
                    : new TlsFailedException(
                            address + " ended the TLS handshake (" + failure.getMessage()
                                    + "); check that the broker enables TLS 1.3 or 1.2 with a usual cipher suite",
                            cause);
        }
        if (failure == null || text.contains("closed")) {
            return new ConnectionFailedException(
                    address + " closed the connection during the TLS handshake; check that the listener has the"
                            + " security protocol SSL, and see the log of the broker",
                    cause);
        }
        return new TlsFailedException("TLS with " + address + " failed: " + failure.getMessage(), cause);
    }

    private static String problemOf(CertificateException certificate, Throwable cause, String host) {
        CertPathValidatorException invalid = find(cause, CertPathValidatorException.class);
        boolean expired = find(cause, CertificateExpiredException.class) != null
                || (invalid != null && invalid.getReason() == BasicReason.EXPIRED);
        if (expired) {
            return " presents a certificate that has expired; replace it on the broker";
        }
        if (find(cause, CertificateNotYetValidException.class) != null
                || (invalid != null && invalid.getReason() == BasicReason.NOT_YET_VALID)) {
            return " presents a certificate that is not valid yet; check the clocks";
        }
        if (invalid != null || find(cause, CertPathBuilderException.class) != null) {
            return " presents a certificate that is not signed by a trusted authority; add the certificate of"
                    + " its authority to those that the client trusts";
        }
        return " presents a certificate that does not name the host " + host + " (" + certificate.getMessage()
                + "); use a name from the certificate in bootstrapServers and advertised.listeners, or sign another";
    }

    /** The first cause of a type; null if there is none. */
    private static <T extends Throwable> T find(Throwable failure, Class<T> type) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (type.isInstance(each)) {
                return type.cast(each);
            }
        }
        return null;
    }
}
