package io.journalq.server.network.tls;

import io.journalq.common.tls.KeyFileFormat;
import java.nio.file.Path;
import java.util.List;

/**
 * The files and rules of TLS for listeners. Immutable.
 *
 * @param keys the private key of the broker and its certificate chain
 * @param trusted the certificates of authorities that may sign those of clients; null if clients present none
 * @param clientAuth whether clients present certificates
 * @param protocols enabled versions, such as {@code TLSv1.3}
 * @param cipherSuites enabled cipher suites in order of preference; empty for the default
 * @param connects whether the broker also opens connections with these keys, to other brokers. Then {@code trusted} is
 *     not null
 */
public record TlsSettings(
        Store keys,
        Store trusted,
        ClientAuth clientAuth,
        List<String> protocols,
        List<String> cipherSuites,
        boolean connects) {
    public TlsSettings {
        protocols = List.copyOf(protocols);
        cipherSuites = List.copyOf(cipherSuites);
    }

    /**
     * A file of keys or certificates. Its passwords are in other files, and are read each time the file is.
     *
     * @param passwordFile the password of a PKCS12 store; null for none
     * @param keyPasswordFile the password of the private key; null if it has none, or that of the store
     */
    public record Store(Path location, KeyFileFormat format, Path passwordFile, Path keyPasswordFile) {}

    /** Whether clients present certificates. */
    public enum ClientAuth {
        NONE,
        /** A client may present none. */
        REQUESTED,
        REQUIRED
    }
}
