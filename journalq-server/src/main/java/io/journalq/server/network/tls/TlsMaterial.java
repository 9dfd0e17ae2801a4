package io.journalq.server.network.tls;

import io.journalq.server.network.tls.TlsSettings.Format;
import io.journalq.server.network.tls.TlsSettings.Store;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The private key, its certificate chain and the trusted certificates, as the files held them at one moment. The key
 * belongs to the chain, whose first certificate is valid now. Blocks; any thread.
 *
 * @param trusted empty if clients present no certificates
 * @param digest of all files, to find out whether they have changed
 */
record TlsMaterial(PrivateKey key, List<X509Certificate> chain, List<X509Certificate> trusted, String digest) {
    private static final int MAX_FILE_SIZE_BYTES = 1 << 20;

    /** Shows no key. */
    @Override
    public String toString() {
        return "TlsMaterial(" + chain.get(0).getSubjectX500Principal() + ")";
    }

    /**
     * A digest of the content of all files.
     *
     * @throws TlsException when one cannot be read
     */
    static String digestOf(TlsSettings settings) throws TlsException {
        return digest(readAll(settings));
    }

    /**
     * Reads the files and checks that they fit together.
     *
     * @throws TlsException when they do not, with the file and the reason
     */
    static TlsMaterial load(TlsSettings settings) throws TlsException {
        Map<Path, byte[]> files = readAll(settings);
        List<X509Certificate> chain = new ArrayList<>();
        PrivateKey key = readKeys(settings.keys(), files, chain);
        List<X509Certificate> trusted = settings.trusted() == null ? List.of() : readTrusted(settings.trusted(), files);
        Path location = settings.keys().location();
        try {
            chain.get(0).checkValidity();
            checkPair(key, chain.get(0).getPublicKey());
        } catch (GeneralSecurityException unusable) {
            throw new TlsException(
                    "the first certificate of " + location + " is not usable: " + unusable.getMessage(), unusable);
        }
        return new TlsMaterial(key, List.copyOf(chain), List.copyOf(trusted), digest(files));
    }

    private static PrivateKey readKeys(Store store, Map<Path, byte[]> files, List<X509Certificate> chain)
            throws TlsException {
        byte[] file = files.get(store.location());
        char[] storePassword = password(store.passwordFile(), files);
        char[] keyPassword = password(store.keyPasswordFile(), files);
        try {
            PrivateKey key;
            if (store.format() == Format.PEM) {
                chain.addAll(PemBlocks.certificates(file));
                key = PemBlocks.privateKey(file, keyPassword);
            } else {
                key = readPkcs12(file, storePassword, keyPassword == null ? storePassword : keyPassword, chain);
            }
            if (chain.isEmpty()) {
                throw new TlsException(store.location() + " holds no certificate for its private key");
            }
            return key;
        } catch (GeneralSecurityException | IOException | IllegalArgumentException unreadable) {
            throw unusable(store, unreadable);
        }
    }

    private static PrivateKey readPkcs12(
            byte[] file, char[] storePassword, char[] keyPassword, List<X509Certificate> chain)
            throws GeneralSecurityException, IOException {
        KeyStore keys = open(file, storePassword);
        for (String alias : Collections.list(keys.aliases())) {
            Key key = keys.isKeyEntry(alias) ? keys.getKey(alias, keyPassword) : null;
            if (key instanceof PrivateKey found) {
                for (Certificate certificate : keys.getCertificateChain(alias)) {
                    chain.add((X509Certificate) certificate);
                }
                return found;
            }
        }
        throw new GeneralSecurityException("there is no private key");
    }

    private static List<X509Certificate> readTrusted(Store store, Map<Path, byte[]> files) throws TlsException {
        byte[] file = files.get(store.location());
        List<X509Certificate> trusted = new ArrayList<>();
        try {
            if (store.format() == Format.PEM) {
                trusted.addAll(PemBlocks.certificates(file));
            } else {
                KeyStore entries = open(file, password(store.passwordFile(), files));
                for (String alias : Collections.list(entries.aliases())) {
                    if (entries.isCertificateEntry(alias)) {
                        trusted.add((X509Certificate) entries.getCertificate(alias));
                    }
                }
            }
        } catch (GeneralSecurityException | IOException | IllegalArgumentException unreadable) {
            throw unusable(store, unreadable);
        }
        if (trusted.isEmpty()) {
            throw new TlsException(store.location() + " holds no trusted certificate");
        }
        return trusted;
    }

    private static KeyStore open(byte[] file, char[] password) throws GeneralSecurityException, IOException {
        if (password == null) {
            throw new GeneralSecurityException("a PKCS12 file needs a password file");
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(new ByteArrayInputStream(file), password);
        return store;
    }

    /** Whether a signature of the key is one of the certificate's owner. */
    private static void checkPair(PrivateKey key, PublicKey certified) throws GeneralSecurityException {
        String algorithm =
                switch (key.getAlgorithm()) {
                    case "RSA" -> "SHA256withRSA";
                    case "EC" -> "SHA256withECDSA";
                    default -> key.getAlgorithm();
                };
        Signature signature = Signature.getInstance(algorithm);
        byte[] text = "pair".getBytes(StandardCharsets.US_ASCII);
        signature.initSign(key);
        signature.update(text);
        byte[] signed = signature.sign();
        signature.initVerify(certified);
        signature.update(text);
        if (!signature.verify(signed)) {
            throw new GeneralSecurityException("it does not belong to the private key");
        }
    }

    /** The text of a password file, without the line break at its end; null without a file. */
    private static char[] password(Path file, Map<Path, byte[]> files) {
        return file == null
                ? null
                : new String(files.get(file), StandardCharsets.UTF_8)
                        .stripTrailing()
                        .toCharArray();
    }

    private static TlsException unusable(Store store, Exception cause) {
        return cause instanceof TlsException known
                ? known
                : new TlsException(
                        "cannot read " + store.location() + " as " + store.format() + ": " + cause.getMessage(), cause);
    }

    private static Map<Path, byte[]> readAll(TlsSettings settings) throws TlsException {
        Map<Path, byte[]> files = new TreeMap<>();
        for (Store store : Arrays.asList(settings.keys(), settings.trusted())) {
            if (store != null) {
                for (Path file : Arrays.asList(store.location(), store.passwordFile(), store.keyPasswordFile())) {
                    if (file != null) {
                        files.put(file, read(file));
                    }
                }
            }
        }
        return files;
    }

    private static byte[] read(Path file) throws TlsException {
        try {
            if (Files.size(file) > MAX_FILE_SIZE_BYTES) {
                throw new TlsException(file + " is larger than " + MAX_FILE_SIZE_BYTES + " bytes");
            }
            return Files.readAllBytes(file);
        } catch (NoSuchFileException missing) {
            throw new TlsException("cannot find " + file, missing);
        } catch (TlsException known) {
            throw known;
        } catch (IOException unreadable) {
            throw new TlsException("cannot read " + file + ": " + unreadable.getMessage(), unreadable);
        }
    }

    private static String digest(Map<Path, byte[]> files) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            for (byte[] file : files.values()) {
                sha.update(Integer.toString(file.length).getBytes(StandardCharsets.US_ASCII));
                sha.update((byte) ':');
                sha.update(file);
            }
            return HexFormat.of().formatHex(sha.digest());
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
