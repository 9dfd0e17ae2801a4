package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import io.journalq.client.ClientBuilder;
import io.journalq.client.security.SaslConfig;
import io.journalq.client.security.TlsConfig;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * How both client libraries connect to a broker: with TLS, a certificate, and a login by SCRAM-SHA-256. Immutable.
 *
 * @param authorities PEM file with the authorities to trust; null for connections without TLS
 * @param certificate PEM file with a certificate and its private key; null for none
 * @param user null for no login
 * @param passwordFile file with the password of the user
 */
public record ConnectionSecurity(Path authorities, Path certificate, String user, Path passwordFile) {
    /** Plain connections. */
    public static final ConnectionSecurity NONE = new ConnectionSecurity(null, null, null, null);

    private static final String MECHANISM = "SCRAM-SHA-256";

    /** TLS 1.3 for a load generator, as {@link #sslContext}; null for plain connections. */
    public SslContext loadContext() {
        return authorities == null ? null : sslContext("TLSv1.3");
    }

    /** Configures a client of JournalQ. */
    public void apply(ClientBuilder<?> builder) {
        if (authorities != null) {
            TlsConfig.Builder tls = TlsConfig.builder().trustPem(authorities);
            builder.tls((certificate == null ? tls : tls.keyPem(certificate)).build());
        }
        if (user != null) {
            builder.sasl(SaslConfig.scramSha256(user, password().toCharArray()));
        }
    }

    /** The settings of Kafka's client. */
    Map<String, Object> kafkaSettings() {
        Map<String, Object> settings = new HashMap<>();
        String transport = authorities == null ? "PLAINTEXT" : "SSL";
        settings.put("security.protocol", user == null ? transport : "SASL_" + transport);
        if (authorities != null) {
            settings.put("ssl.truststore.type", "PEM");
            settings.put("ssl.truststore.location", authorities.toString());
        }
        if (certificate != null) {
            settings.put("ssl.keystore.type", "PEM");
            settings.put("ssl.keystore.location", certificate.toString());
        }
        if (user != null) {
            settings.put("sasl.mechanism", MECHANISM);
            settings.put(
                    "sasl.jaas.config",
                    "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"" + escaped(user)
                            + "\" password=\"" + escaped(password()) + "\";");
        }
        return settings;
    }

    /**
     * TLS of BoringSSL, where it loads, that trusts the authorities. There must be some.
     *
     * @param version such as TLSv1.3
     * @param groups for the key exchange, which need BoringSSL; those of the library if there are none
     */
    public SslContext sslContext(String version, String... groups) {
        try {
            SslContextBuilder builder = SslContextBuilder.forClient()
                    .sslProvider(OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK)
                    .trustManager(authorities.toFile())
                    .endpointIdentificationAlgorithm(null)
                    .protocols(version);
            if (groups.length > 0) {
                builder.option(OpenSslContextOption.GROUPS, groups);
            }
            return builder.build();
        } catch (IOException | IllegalArgumentException e) {
            throw new BenchException("cannot read certificates from " + authorities, "check the file", e);
        }
    }

    /** TLS of the JDK that trusts the authorities. There must be some. */
    public SSLContext sockets() {
        try (InputStream file = Files.newInputStream(authorities)) {
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            int number = 0;
            for (Certificate authority : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
                trusted.setCertificateEntry("authority-" + number++, authority);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new BenchException("cannot read certificates from " + authorities, "check the file", e);
        }
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"");
    }

    private String password() {
        try {
            return Files.readString(passwordFile).stripTrailing();
        } catch (IOException unreadable) {
            throw new BenchException("cannot read " + passwordFile, "check --password-file", unreadable);
        }
    }
}
