package io.journalq.server.network.tls;

import io.journalq.common.file.FileProblem;
import io.journalq.common.tls.KeyMaterial;
import io.journalq.common.tls.TrustedCertificates;
import io.journalq.server.network.tls.TlsSettings.Store;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The keys of the broker and the trusted certificates, as the files held them at one moment. Blocks; any thread.
 *
 * @param trusted empty if clients present no certificates
 * @param digest of all files, to find out whether they have changed
 */
record TlsMaterial(KeyMaterial keys, List<X509Certificate> trusted, String digest) {
    private static final int MAX_FILE_SIZE_BYTES = 1 << 20;
    private static final Pattern LINE_BREAKS = Pattern.compile("[\\r\\n]+$");

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
        KeyMaterial keys = readKeys(settings.keys(), files);
        List<X509Certificate> trusted = settings.trusted() == null ? List.of() : readTrusted(settings.trusted(), files);
        return new TlsMaterial(keys, trusted, digest(files));
    }

    private static KeyMaterial readKeys(Store store, Map<Path, byte[]> files) throws TlsException {
        try {
            return KeyMaterial.parse(
                    files.get(store.location()),
                    store.format(),
                    password(store.passwordFile(), files),
                    password(store.keyPasswordFile(), files));
        } catch (GeneralSecurityException unusable) {
            throw cannotUse(store, unusable);
        }
    }

    private static List<X509Certificate> readTrusted(Store store, Map<Path, byte[]> files) throws TlsException {
        try {
            return TrustedCertificates.parse(
                    files.get(store.location()), store.format(), password(store.passwordFile(), files));
        } catch (GeneralSecurityException unusable) {
            throw cannotUse(store, unusable);
        }
    }

    private static TlsException cannotUse(Store store, GeneralSecurityException cause) {
        return new TlsException(
                "cannot use " + store.location() + " as " + store.format() + ": " + cause.getMessage(), cause);
    }

    /** The text of a password file, without the line break at its end; null without a file. */
    private static char[] password(Path file, Map<Path, byte[]> files) {
        return file == null
                ? null
                : LINE_BREAKS
                        .matcher(new String(files.get(file), StandardCharsets.UTF_8))
                        .replaceFirst("")
                        .toCharArray();
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
            throw new TlsException("cannot read " + file + ": " + FileProblem.reason(unreadable), unreadable);
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
