package io.journalq.client.security;

import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.common.file.FileProblem;
import io.journalq.common.tls.KeyFileFormat;
import io.journalq.common.tls.KeyMaterial;
import io.journalq.common.tls.TrustedCertificates;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509TrustManager;

/**
 * Which brokers a client trusts, and the certificate that it presents to them. Connections are encrypted by TLS 1.3 or
 * 1.2. Immutable; several clients can share one.
 *
 * <p>Files are read once, when the configuration is built. To use files that have changed, build another configuration
 * and another client.
 *
 * <pre>{@code
 * TlsConfig tls = TlsConfig.builder()
 *         .trustPem(Path.of("authority.pem"))
 *         .keyPem(Path.of("billing.pem"))
 *         .build();
 * Producer producer = Producer.builder().bootstrapServers("broker1.example.com:9093").tls(tls).build();
 * }</pre>
 */
public final class TlsConfig {
    private static final long MAX_FILE_SIZE_BYTES = 1 << 20;

    private final X509TrustManager trustManager;
    private final X509ExtendedKeyManager keyManager;
    private final boolean hostNameVerified;

    private TlsConfig(X509TrustManager trustManager, X509ExtendedKeyManager keyManager, boolean hostNameVerified) {
        this.trustManager = trustManager;
        this.keyManager = keyManager;
        this.hostNameVerified = hostNameVerified;
    }

    /** Starts a configuration. By default, it trusts the authorities of the Java runtime and presents no certificate. */
    public static Builder builder() {
        return new Builder();
    }

    /** Checks the certificates of brokers. */
    public X509TrustManager trustManager() {
        return trustManager;
    }

    /** Has the private key of the client; null if it presents no certificate. */
    public X509ExtendedKeyManager keyManager() {
        return keyManager;
    }

    /** Whether the certificate of a broker must name the host that the client connects to. */
    public boolean isHostNameVerified() {
        return hostNameVerified;
    }

    /** Shows no key. */
    @Override
    public String toString() {
        return "TlsConfig(" + (keyManager == null ? "no certificate" : "with a certificate")
                + (hostNameVerified ? "" : ", host names are not verified") + ")";
    }

    /**
     * The settings of a {@link TlsConfig}. Not thread-safe.
     *
     * <p>Its methods read files. They throw {@link IllegalArgumentException} if a file cannot be read, is larger than
     * 1 MiB, has another format or another password, or if the first certificate has expired or does not belong to the
     * private key. No message contains a password or a part of a key.
     */
    public static final class Builder {
        private X509TrustManager trustManager;
        private X509ExtendedKeyManager keyManager;
        private boolean hostNameVerified = true;

        private Builder() {}

        /**
         * Trusts brokers whose certificates are signed by one of the authorities in this file, and no others.
         *
         * @param file certificates, each in a block {@code BEGIN CERTIFICATE}
         */
        public Builder trustPem(Path file) {
            return trust(file, KeyFileFormat.PEM, null);
        }

        /**
         * Trusts brokers whose certificates are signed by one of the authorities in this file, and no others.
         *
         * @param file a PKCS12 keystore with trusted certificates
         * @param password of the keystore
         */
        public Builder trustPkcs12(Path file, char[] password) {
            return trust(file, KeyFileFormat.PKCS12, notNull(password, "password"));
        }

        private Builder trust(Path file, KeyFileFormat format, char[] password) {
            byte[] content = read(notNull(file, "file"));
            try {
                trustManager = TrustedCertificates.manager(TrustedCertificates.parse(content, format, password));
            } catch (GeneralSecurityException unusable) {
                throw cannotUse(file, format, unusable);
            }
            return this;
        }

        /**
         * Presents a certificate.
         *
         * @param file the private key in PKCS #8 without a password ({@code BEGIN PRIVATE KEY}), the certificate of the
         *     client, and then those of intermediate authorities
         */
        public Builder keyPem(Path file) {
            return key(file, read(notNull(file, "file")), KeyFileFormat.PEM, null, null);
        }

        /**
         * Presents a certificate whose private key is in a file of its own.
         *
         * @param certificates the certificate of the client, and then those of intermediate authorities
         * @param key the private key in PKCS #8
         * @param keyPassword of the private key ({@code BEGIN ENCRYPTED PRIVATE KEY}); null if it has none
         */
        public Builder keyPem(Path certificates, Path key, char[] keyPassword) {
            notNull(certificates, "certificates");
            ByteArrayOutputStream both = new ByteArrayOutputStream();
            both.writeBytes(read(notNull(key, "key")));
            both.write('\n');
            if (!certificates.equals(key)) {
                both.writeBytes(read(certificates));
            }
            return key(key, both.toByteArray(), KeyFileFormat.PEM, null, keyPassword);
        }

        /**
         * Presents a certificate.
         *
         * @param file a PKCS12 keystore with the private key and the certificates
         * @param password of the keystore and of the private key
         */
        public Builder keyPkcs12(Path file, char[] password) {
            return key(
                    file, read(notNull(file, "file")), KeyFileFormat.PKCS12, notNull(password, "password"), password);
        }

        private Builder key(Path file, byte[] content, KeyFileFormat format, char[] password, char[] keyPassword) {
            try {
                keyManager = KeyMaterial.parse(content, format, password, keyPassword)
                        .manager();
            } catch (GeneralSecurityException unusable) {
                throw cannotUse(file, format, unusable);
            }
            return this;
        }

        /**
         * Whether the certificate of a broker must name the host that the client connects to. Default true. Without the
         * check, the owner of any certificate of a trusted authority can pretend to be the broker.
         */
        public Builder verifyHostName(boolean verified) {
            this.hostNameVerified = verified;
            return this;
        }

        /** Returns the configuration. */
        public TlsConfig build() {
            return new TlsConfig(trustManager == null ? defaultTrust() : trustManager, keyManager, hostNameVerified);
        }

        private static X509TrustManager defaultTrust() {
            try {
                TrustManagerFactory factory =
                        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
                factory.init((KeyStore) null);
                return (X509TrustManager) factory.getTrustManagers()[0];
            } catch (GeneralSecurityException unusable) {
                throw new IllegalArgumentException(
                        "cannot use the trusted authorities of the Java runtime: " + unusable.getMessage(), unusable);
            }
        }

        private static byte[] read(Path file) {
            try {
                if (Files.size(file) > MAX_FILE_SIZE_BYTES) {
                    throw new IllegalArgumentException(file + " is larger than " + MAX_FILE_SIZE_BYTES + " bytes");
                }
                return Files.readAllBytes(file);
            } catch (NoSuchFileException missing) {
                throw new IllegalArgumentException("cannot find " + file, missing);
            } catch (IOException unreadable) {
                throw new IllegalArgumentException(
                        "cannot read " + file + ": " + FileProblem.reason(unreadable), unreadable);
            }
        }

        private static IllegalArgumentException cannotUse(
                Path file, KeyFileFormat format, GeneralSecurityException cause) {
            return new IllegalArgumentException(
                    "cannot use " + file + " as " + format + ": " + cause.getMessage(), cause);
        }
    }
}
