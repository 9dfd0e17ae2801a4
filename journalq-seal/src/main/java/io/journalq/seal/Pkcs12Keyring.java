package io.journalq.seal;

import io.journalq.seal.KeyVault.StoredKey;
import io.journalq.seal.KeyVault.WrongPassphraseException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.UnrecoverableKeyException;
import java.security.cert.Certificate;
import java.security.interfaces.EdECPrivateKey;
import java.security.interfaces.XECPrivateKey;
import java.util.Arrays;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/**
 * A keyring in a key store of the form PKCS#12 (RFC 7292). The alias of an entry is the name of the key. Java does not
 * distinguish upper and lower case in aliases, so that names have no upper case.
 *
 * <p>Two kinds of entries are read. Other programs, such as {@code keytool} and {@code openssl}, make a private key with a
 * certificate. Only the public key of the certificate counts. JournalQ makes secrets, because a private key needs a certificate,
 * which a key of X25519 cannot sign: the private and the public key, each behind its length.
 */
final class Pkcs12Keyring implements KeyVault.Form {
    /** The minimum length of the passphrase of a new file: each guess costs only Java's 10,000 iterations. */
    static final int MIN_PASSPHRASE_LENGTH = 20;

    private static final String TYPE = "PKCS12";
    /** Java must know the algorithm of a secret; the content is none of it. */
    private static final String SECRET_ALGORITHM = "AES";
    /** The first byte of a DER sequence, with which the file begins. */
    private static final byte SEQUENCE = 0x30;

    private static final Pattern NAME =
            Pattern.compile("root|(?:sender|token)/[a-z0-9._-]{1,249}|role/[a-z0-9._-]{1,249}/[1-9][0-9]{0,8}");

    private final char[] passphrase;
    /** Entries as they were read, which are written unchanged. */
    private final Map<String, Read> read = new TreeMap<>();

    /** @param key what the entry contains. Another key can have its name when this one was destroyed */
    private record Read(KeyStore.Entry entry, StoredKey key) {}

    Pkcs12Keyring(char[] passphrase) {
        this.passphrase = passphrase.clone();
    }

    /**
     * The form of a new file.
     *
     * @throws IOException if the passphrase is too short
     */
    static Pkcs12Keyring create(char[] passphrase) throws IOException {
        if (passphrase.length < MIN_PASSPHRASE_LENGTH) {
            throw new IOException("the passphrase of a PKCS#12 keyring must have " + MIN_PASSPHRASE_LENGTH
                    + " characters, because the form protects passphrases little; write a random one, for example"
                    + " with: openssl rand -base64 24");
        }
        return new Pkcs12Keyring(passphrase);
    }

    /** Whether the content of a file has this form. */
    static boolean isContent(byte[] content) {
        return content.length > 0 && content[0] == SEQUENCE;
    }

    @Override
    public Map<String, StoredKey> decode(byte[] content) throws IOException {
        try {
            KeyStore store = KeyStore.getInstance(TYPE);
            try {
                store.load(new ByteArrayInputStream(content), passphrase);
            } catch (IOException unreadable) {
                if (unreadable.getCause() instanceof UnrecoverableKeyException) {
                    throw new WrongPassphraseException(unreadable);
                }
                throw new IllegalArgumentException("it is not of the form PKCS#12", unreadable);
            }
            Map<String, StoredKey> keys = new TreeMap<>();
            KeyStore.ProtectionParameter protection = new KeyStore.PasswordProtection(passphrase);
            for (String alias : Collections.list(store.aliases())) {
                if (!NAME.matcher(alias).matches() || !store.isKeyEntry(alias)) {
                    throw new IllegalArgumentException("entry " + alias + " is no key with the name root, sender/NAME,"
                            + " role/NAME/GENERATION or token/TOPIC; use a key store for these keys only");
                }
                StoredKey key = stored(alias, store.getKey(alias, passphrase), store.getCertificate(alias));
                read.put(alias, new Read(store.getEntry(alias, protection), key));
                keys.put(alias, key);
            }
            return keys;
        } catch (GeneralSecurityException unusable) {
            throw new IllegalArgumentException(unusable.getMessage(), unusable);
        }
    }

    private static StoredKey stored(String alias, Key key, Certificate certificate) {
        if (key instanceof SecretKey secret) {
            FieldReader in = new FieldReader(secret.getEncoded());
            StoredKey stored = new StoredKey(in.nullable(), in.nullable());
            in.expectEnd();
            if (stored.privateKey() == null || stored.publicKey() == null) {
                throw new IllegalArgumentException("entry " + alias + " is not a key of JournalQ");
            }
            return stored;
        }
        if (!(key instanceof PrivateKey) || certificate == null) {
            throw new IllegalArgumentException("entry " + alias + " has no certificate");
        }
        boolean ofRole = alias.startsWith("role/");
        byte[] publicKey = certificate.getPublicKey().getEncoded();
        if (ofRole && key.getAlgorithm().equals("RSA")) {
            return new StoredKey(key.getEncoded(), publicKey);
        }
        Optional<byte[]> raw = Optional.empty();
        if (ofRole && key instanceof XECPrivateKey montgomery) {
            raw = montgomery.getScalar();
        } else if (!ofRole && key instanceof EdECPrivateKey edwards) {
            raw = edwards.getBytes();
        }
        if (raw.isEmpty() || raw.get().length != RawKeyPair.KEY_SIZE_BYTES) {
            throw new IllegalArgumentException("entry " + alias + " has a key of " + key.getAlgorithm()
                    + "; roles have RSA or X25519, and the root and senders Ed25519");
        }
        return new StoredKey(
                raw.get(),
                Arrays.copyOfRange(publicKey, publicKey.length - RawKeyPair.KEY_SIZE_BYTES, publicKey.length));
    }

    @Override
    public byte[] encode(Map<String, StoredKey> keys) throws IOException {
        try {
            KeyStore store = KeyStore.getInstance(TYPE);
            store.load(null, passphrase);
            KeyStore.ProtectionParameter protection = new KeyStore.PasswordProtection(passphrase);
            for (Map.Entry<String, StoredKey> entry : keys.entrySet()) {
                String name = entry.getKey();
                if (!name.equals(name.toLowerCase(Locale.ROOT))) {
                    throw new IOException("a PKCS#12 keyring has no names with upper case: " + name);
                }
                Read known = read.get(name);
                boolean isKept = known != null
                        && Arrays.equals(
                                known.key.privateKey(), entry.getValue().privateKey());
                store.setEntry(name, isKept ? known.entry : secret(entry.getValue()), protection);
            }
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            store.store(out, passphrase);
            return out.toByteArray();
        } catch (GeneralSecurityException broken) {
            throw new IOException("cannot write the form PKCS#12: " + broken.getMessage(), broken);
        }
    }

    private static KeyStore.SecretKeyEntry secret(StoredKey key) {
        byte[] content = new FieldWriter()
                .nullable(key.privateKey())
                .nullable(key.publicKey())
                .done();
        try {
            return new KeyStore.SecretKeyEntry(new SecretKeySpec(content, SECRET_ALGORITHM));
        } finally {
            Arrays.fill(content, (byte) 0);
        }
    }
}
