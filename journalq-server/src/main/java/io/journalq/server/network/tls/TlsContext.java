package io.journalq.server.network.tls;

import io.journalq.common.tls.TrustedCertificates;
import io.journalq.server.network.tls.TlsSettings.ClientAuth;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OpenSslCertificateCompressionConfig;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.OpenSslSessionContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509TrustManager;

/**
 * What new connections are encrypted with: keys, trusted certificates, versions and cipher suites. Immutable, any thread.
 *
 * @param trust checks the certificates of clients; null if they present none
 * @param certificateRequired whether each client has to present one
 * @param digest of the files from which it was built
 * @param expiry when the certificate of the broker expires
 * @param outbound for connections that the broker opens; null if it opens none
 */
record TlsContext(
        SslContext ssl,
        X509TrustManager trust,
        boolean certificateRequired,
        String digest,
        Instant expiry,
        Outbound outbound) {
    /**
     * AES-128-GCM first: it is the fastest with instructions for AES, and as safe. All have forward secrecy.
     * BoringSSL does not follow the order of the suites of TLS 1.3.
     */
    private static final List<String> DEFAULT_CIPHER_SUITES = List.of(
            "TLS_AES_128_GCM_SHA256",
            "TLS_AES_256_GCM_SHA384",
            "TLS_CHACHA20_POLY1305_SHA256",
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
            "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");

    /** Limits what a client without a trusted certificate can make the broker keep. */
    private static final int MAX_CERTIFICATE_LIST_BYTES = 32 * 1024;

    private static final String TLS_1_3 = "TLSv1.3";

    /** The certificate of the other side must name the host that the broker connects to. */
    private static final String HOST_NAMES = "HTTPS";

    /** @param keys presents the certificate of the broker */
    record Outbound(SslContext ssl, X509ExtendedKeyManager keys, X509Certificate certificate) {}

    /**
     * Builds a context from the files, and opens an engine with it to see that it works. Blocks.
     *
     * @throws TlsException when the files do not fit together, or the provider refuses them
     */
    static TlsContext build(TlsSettings settings) throws TlsException {
        TlsMaterial material = TlsMaterial.load(settings);
        boolean openSsl = usesOpenSsl(settings);
        try {
            SslContextBuilder builder = SslContextBuilder.forServer(
                            material.keys().key(), material.keys().chain())
                    .sslProvider(openSsl ? SslProvider.OPENSSL : SslProvider.JDK)
                    .protocols(settings.protocols())
                    .ciphers(cipherSuites(settings), SupportedCipherSuiteFilter.INSTANCE)
                    .clientAuth(nettys(settings.clientAuth()));
            X509TrustManager trust = null;
            if (!material.trusted().isEmpty()) {
                trust = TrustedCertificates.manager(material.trusted());
                builder.trustManager(trust);
            }
            if (openSsl) {
                builder.option(OpenSslContextOption.MAX_CERTIFICATE_LIST_BYTES, MAX_CERTIFICATE_LIST_BYTES);
                // The certificate would be compressed for each handshake, which costs more than the bytes that it
                // saves.
                builder.option(
                        OpenSslContextOption.CERTIFICATE_COMPRESSION_ALGORITHMS,
                        OpenSslCertificateCompressionConfig.newBuilder().build());
                // A signature of RSA takes a millisecond. BoringSSL would make it on the event loop.
                builder.option(
                        OpenSslContextOption.USE_JDK_PROVIDER_SIGNATURES,
                        material.keys().key().getAlgorithm().equals("RSA"));
            }
            SslContext ssl = builder.build();
            if (ssl.sessionContext() instanceof OpenSslSessionContext sessions) {
                sessions.setSessionCacheEnabled(false);
            }
            ReferenceCountUtil.release(ssl.newEngine(PooledByteBufAllocator.DEFAULT));
            return new TlsContext(
                    ssl,
                    trust,
                    settings.clientAuth() == ClientAuth.REQUIRED,
                    material.digest(),
                    material.keys().chain().get(0).getNotAfter().toInstant(),
                    settings.connects() ? outbound(settings, material, trust) : null);
        } catch (IOException | GeneralSecurityException | IllegalArgumentException refused) {
            throw new TlsException(
                    "cannot use " + settings.keys().location() + " for TLS: " + refused.getMessage(), refused);
        }
    }

    private static Outbound outbound(TlsSettings settings, TlsMaterial material, X509TrustManager trust)
            throws IOException, GeneralSecurityException {
        X509ExtendedKeyManager keys = material.keys().manager();
        SslContext ssl = SslContextBuilder.forClient()
                .sslProvider(usesOpenSsl(settings) ? SslProvider.OPENSSL : SslProvider.JDK)
                .protocols(settings.protocols())
                .ciphers(cipherSuites(settings), SupportedCipherSuiteFilter.INSTANCE)
                .keyManager(keys)
                .trustManager(trust)
                .endpointIdentificationAlgorithm(HOST_NAMES)
                .build();
        return new Outbound(ssl, keys, material.keys().chain().get(0));
    }

    /** The name of the implementation that {@link #build} uses. */
    static String providerName(TlsSettings settings) {
        return usesOpenSsl(settings) ? OpenSsl.versionString() : "JDK";
    }

    /** BoringSSL cannot choose among the cipher suites of TLS 1.3, so a restriction of them is left to the JDK. */
    private static boolean usesOpenSsl(TlsSettings settings) {
        return OpenSsl.isAvailable()
                && (settings.cipherSuites().isEmpty() || !settings.protocols().contains(TLS_1_3));
    }

    private static List<String> cipherSuites(TlsSettings settings) {
        return settings.cipherSuites().isEmpty() ? DEFAULT_CIPHER_SUITES : settings.cipherSuites();
    }

    private static io.netty.handler.ssl.ClientAuth nettys(ClientAuth wanted) {
        return switch (wanted) {
            case NONE -> io.netty.handler.ssl.ClientAuth.NONE;
            case REQUESTED -> io.netty.handler.ssl.ClientAuth.OPTIONAL;
            case REQUIRED -> io.netty.handler.ssl.ClientAuth.REQUIRE;
        };
    }

    /** Whether both trust the same certificates. */
    boolean trustsSameAs(TlsContext other) {
        return trusted().equals(other.trusted());
    }

    private Set<X509Certificate> trusted() {
        return trust == null ? Set.of() : Set.copyOf(List.of(trust.getAcceptedIssuers()));
    }

    /** Whether the trusted certificates cover a client that presented {@code chain}. */
    boolean trusts(X509Certificate[] chain) {
        if (trust == null) {
            return true;
        }
        try {
            trust.checkClientTrusted(chain, chain[0].getPublicKey().getAlgorithm());
            return true;
        } catch (CertificateException untrusted) {
            return false;
        }
    }
}
