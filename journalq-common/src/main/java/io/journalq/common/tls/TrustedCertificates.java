package io.journalq.common.tls;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/** The certificates of authorities that are trusted to sign those of others. Stateless. */
public final class TrustedCertificates {
    private TrustedCertificates() {}

    /**
     * Reads a file.
     *
     * @param password of a PKCS12 file; else null
     * @return at least one
     * @throws GeneralSecurityException when the file is not usable, with the reason as a part of a sentence
     */
    public static List<X509Certificate> parse(byte[] file, KeyFileFormat format, char[] password)
            throws GeneralSecurityException {
        List<X509Certificate> trusted = new ArrayList<>();
        if (format == KeyFileFormat.PEM) {
            trusted.addAll(PemBlocks.of(file).certificates());
        } else {
            KeyStore entries = Pkcs12.open(file, password);
            for (String alias : Collections.list(entries.aliases())) {
                if (entries.isCertificateEntry(alias)) {
                    trusted.add((X509Certificate) entries.getCertificate(alias));
                }
            }
        }
        if (trusted.isEmpty()) {
            throw new GeneralSecurityException("there is no trusted certificate"
                    + (format == KeyFileFormat.PEM
                            ? ""
                            : " (one that openssl has stored is not marked as trusted: use keytool, or PEM)"));
        }
        return List.copyOf(trusted);
    }

    /** Checks certificate chains against trusted certificates. */
    public static X509TrustManager manager(List<X509Certificate> trusted) throws GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        try {
            store.load(null, null);
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
        for (int i = 0; i < trusted.size(); i++) {
            store.setCertificateEntry("trusted-" + i, trusted.get(i));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return (X509TrustManager) factory.getTrustManagers()[0];
    }
}
