package io.journalq.server.broker;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyPair;
import java.security.KeyStore;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** An authority, and the keys and certificates that it signs for brokers and clients. */
public final class TestKeys {
    /** The password of every file. A word that appears nowhere else, so that a test can look for it. */
    public static final String PASSWORD = "canary-7f3a91";

    private final Path directory;
    private final X509Bundle authority;

    public TestKeys(Path directory, String name) throws Exception {
        this.directory = Files.createDirectories(directory);
        this.authority = new CertificateBuilder()
                .subject("CN=" + name)
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        Files.writeString(directory.resolve("authority.pem"), authority.getCertificatePEM());
        Files.writeString(directory.resolve("password"), PASSWORD + "\n");
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("authority", authority.getCertificate());
        store(trusted, directory.resolve("authority.p12"));
    }

    public Path directory() {
        return directory;
    }

    Path passwordFile() {
        return directory.resolve("password");
    }

    /** Signs a certificate for a program on this machine. */
    public X509Bundle sign(String subject, Algorithm algorithm) throws Exception {
        return sign(onThisMachine(subject).algorithm(algorithm));
    }

    private static CertificateBuilder onThisMachine(String subject) {
        return new CertificateBuilder()
                .subject(subject)
                .addSanDnsName("localhost")
                .addSanIpAddress("127.0.0.1");
    }

    public X509Bundle sign(CertificateBuilder certificate) throws Exception {
        return certificate.buildIssuedBy(authority);
    }

    /** Signs a certificate for an RSA key. */
    public X509Bundle signRsa(String subject) throws Exception {
        KeyPair keys = TestRsa.ONE.keys();
        X509Bundle certificate = sign(onThisMachine(subject).publicKey(keys.getPublic()));
        return X509Bundle.fromCertificatePath(certificate.getCertificatePath(), certificate.getRootCertificate(), keys);
    }

    /** Writes the key and chain of a bundle to NAME.pem and NAME.p12, each at once. */
    public void write(String name, X509Bundle keys) throws Exception {
        replace(name + ".pem", keys.getPrivateKeyPEM() + keys.getCertificatePathPEM());
        Path part = directory.resolve(name + ".p12.part");
        store(keys.toKeyStore(PASSWORD.toCharArray()), part);
        Files.move(part, directory.resolve(name + ".p12"), StandardCopyOption.REPLACE_EXISTING);
    }

    public void replace(String file, String content) throws IOException {
        Path part = directory.resolve(file + ".part");
        Files.writeString(part, content);
        Files.move(part, directory.resolve(file), StandardCopyOption.REPLACE_EXISTING);
    }

    /** Settings of a Java client that trusts this authority. */
    Map<String, Object> client() {
        return Map.of(
                "security.protocol",
                "SSL",
                "ssl.truststore.type",
                "PEM",
                "ssl.truststore.location",
                directory.resolve("authority.pem").toString());
    }

    /** The same for a client that presents the certificate of NAME.p12. */
    Map<String, Object> client(String name) {
        Map<String, Object> settings = new java.util.TreeMap<>(client());
        settings.put("ssl.keystore.type", "PKCS12");
        settings.put("ssl.keystore.location", directory.resolve(name + ".p12").toString());
        settings.put("ssl.keystore.password", PASSWORD);
        settings.put("ssl.key.password", PASSWORD);
        return settings;
    }

    /** What sockets of a client that trusts this authority are made with. */
    SSLContext sockets(X509Bundle clientKeys) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        KeyManagerFactory keys = clientKeys == null ? null : clientKeys.toKeyManagerFactory();
        context.init(
                keys == null ? null : keys.getKeyManagers(),
                authority.toTrustManagerFactory().getTrustManagers(),
                null);
        return context;
    }

    private static void store(KeyStore store, Path file) throws Exception {
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, PASSWORD.toCharArray());
        }
    }
}
