package io.journalq.common.tls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;

/**
 * A private key and the certificate chain that proves whose it is. The key belongs to the first certificate, which was
 * valid when it was read. Immutable.
 */
public record KeyMaterial(PrivateKey key, List<X509Certificate> chain) {
    public KeyMaterial {
        chain = List.copyOf(chain);
    }

    /**
     * Reads a file.
     *
     * @param password of a PKCS12 file; else null
     * @param keyPassword of the private key; null for the one of the PKCS12 file, or if a PEM key is not encrypted
     * @throws GeneralSecurityException when the file is not usable, with the reason as a part of a sentence
     */
    public static KeyMaterial parse(byte[] file, KeyFileFormat format, char[] password, char[] keyPassword)
            throws GeneralSecurityException {
        KeyMaterial found = format == KeyFileFormat.PEM
                ? parsePem(file, keyPassword)
                : parsePkcs12(file, password, keyPassword == null ? password : keyPassword);
        if (found.chain.isEmpty()) {
            throw new GeneralSecurityException("there is no certificate for the private key");
        }
        found.check();
        return found;
    }

    private static KeyMaterial parsePem(byte[] file, char[] keyPassword) throws GeneralSecurityException {
        PemBlocks blocks = PemBlocks.of(file);
        return new KeyMaterial(blocks.privateKey(keyPassword), blocks.certificates());
    }

    private static KeyMaterial parsePkcs12(byte[] file, char[] password, char[] keyPassword)
            throws GeneralSecurityException {
        KeyStore entries = Pkcs12.open(file, password);
        for (String alias : Collections.list(entries.aliases())) {
            Key key = entries.isKeyEntry(alias) ? entries.getKey(alias, keyPassword) : null;
            if (key instanceof PrivateKey found) {
                List<X509Certificate> chain = new ArrayList<>();
                Certificate[] certificates = entries.getCertificateChain(alias); // null without any
                for (int i = 0; certificates != null && i < certificates.length; i++) {
                    chain.add((X509Certificate) certificates[i]);
                }
                return new KeyMaterial(found, chain);
            }
        }
        throw new GeneralSecurityException("there is no private key");
    }

    /** Whether the first certificate is valid, and a signature of the key is one of its owner. */
    private void check() throws GeneralSecurityException {
        X509Certificate first = chain.get(0);
        try {
            first.checkValidity();
        } catch (CertificateExpiredException expired) {
            throw new GeneralSecurityException(
                    "its first certificate expired at " + first.getNotAfter().toInstant(), expired);
        } catch (CertificateNotYetValidException early) {
            throw new GeneralSecurityException(
                    "its first certificate is valid only from "
                            + first.getNotBefore().toInstant(),
                    early);
        }
        String algorithm =
                switch (key.getAlgorithm()) {
                    case "RSA" -> "SHA256withRSA";
                    case "EC" -> "SHA256withECDSA";
                    default -> key.getAlgorithm();
                };
        if (!first.getPublicKey().getAlgorithm().equals(key.getAlgorithm())) {
            throw ofAnother();
        }
        Signature signature = Signature.getInstance(algorithm);
        byte[] text = "pair".getBytes(StandardCharsets.US_ASCII);
        signature.initSign(key);
        signature.update(text);
        byte[] signed = signature.sign();
        signature.initVerify(first.getPublicKey());
        signature.update(text);
        boolean fits;
        try {
            fits = signature.verify(signed);
        } catch (java.security.SignatureException ofAnotherSize) {
            fits = false;
        }
        if (!fits) {
            throw ofAnother();
        }
    }

    private static GeneralSecurityException ofAnother() {
        return new GeneralSecurityException("its first certificate does not belong to the private key");
    }

    /** A key manager that presents the certificate. */
    public X509ExtendedKeyManager manager() throws GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        char[] inMemory = new char[0];
        try {
            store.load(null, null);
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
        store.setKeyEntry("own", key, inMemory, chain.toArray(new Certificate[0]));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, inMemory);
        return (X509ExtendedKeyManager) factory.getKeyManagers()[0];
    }

    /** Shows no key. */
    @Override
    public String toString() {
        return "KeyMaterial(" + (chain.isEmpty() ? "" : chain.get(0).getSubjectX500Principal()) + ")";
    }
}
