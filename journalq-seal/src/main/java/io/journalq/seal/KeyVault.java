package io.journalq.seal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Private keys: of the root, of senders, of all generations of roles, and of the tokens of topics. Either in memory, or in a
 * file that only its owner may read and that is encrypted with a passphrase: a keyring of JournalQ, or a key store of the
 * form PKCS#12. Files on file systems without POSIX permissions are refused. Thread-safe.
 */
public final class KeyVault {
    private static final int MAX_SIZE_BYTES = 1024 * 1024;
    private static final String ROOT = "root";
    private static final String PKCS12_SUFFIX = ".p12";

    private final ReentrantLock lock = new ReentrantLock();
    private final SortedMap<String, StoredKey> keys = new TreeMap<>();
    /** Null for a vault in memory. */
    private final Path file;
    /** Null for a vault in memory. */
    private final Form form;
    /** The content of the file as it was read or written last; null before the first. */
    private byte[] lastContent;

    /**
     * A key in a file. Immutable if the arrays are not modified.
     *
     * @param privateKey 32 bytes of curve 25519, PKCS#8 for RSA, or 32 bytes for tokens
     * @param publicKey as {@link RoleKey#publicKey()}, 32 bytes of Ed25519, or empty for tokens
     */
    @SuppressWarnings("ArrayRecordComponent") // compared by name only
    record StoredKey(byte[] privateKey, byte[] publicKey) {
        static StoredKey of(RoleKey key) {
            return key instanceof RsaRoleKey rsa
                    ? new StoredKey(rsa.privateKey(), rsa.publicKey())
                    : of((RawKeyPair) key);
        }

        static StoredKey of(RawKeyPair pair) {
            return new StoredKey(pair.privateKey(), pair.publicKey());
        }

        RawKeyPair pair() {
            return new RawKeyPair(privateKey, publicKey);
        }

        /** @throws IllegalArgumentException if it is malformed or weak */
        RoleKey roleKey() {
            return RsaRoleKey.isRsa(publicKey) ? RsaRoleKey.of(privateKey, publicKey) : pair();
        }

        void check() {
            Object unused = publicKey.length == 0 ? new TokenKey(privateKey) : roleKey();
        }
    }

    /** A form of files, with the passphrase of one of them. One thread at a time. */
    interface Form {
        /** The keys in the content of a file. */
        Map<String, StoredKey> decode(byte[] content) throws IOException;

        /** The content of a file with these keys. */
        byte[] encode(Map<String, StoredKey> keys) throws IOException;
    }

    private KeyVault(Path file, Form form) {
        this.file = file;
        this.form = form;
    }

    /** Returns an empty vault in memory. */
    public static KeyVault inMemory() {
        return new KeyVault(null, null);
    }

    /**
     * Creates a file without keys: of the form PKCS#12 if its name ends with {@code .p12}, and otherwise a keyring of
     * JournalQ.
     *
     * @throws IOException if the file exists or cannot be written, or if the passphrase is too short for PKCS#12, which
     *     protects passphrases little
     */
    public static KeyVault create(Path file, char[] passphrase) throws IOException {
        if (file.getFileName().toString().toLowerCase(Locale.ROOT).endsWith(PKCS12_SUFFIX)) {
            return create(file, Pkcs12Keyring.create(passphrase));
        }
        return create(file, passphrase, FileKeyring.ITERATIONS);
    }

    /**
     * Creates a keyring of JournalQ without keys.
     *
     * @param iterations number of PBKDF2 iterations, from 1 to 20,000,000. Each makes a guess of the passphrase, and each
     *     opening of the file, slower. Fewer than the default of 1,000,000 suit random passphrases only.
     * @throws IOException if the file exists or cannot be written
     * @throws IllegalArgumentException if the number of iterations is out of range
     */
    public static KeyVault create(Path file, char[] passphrase, int iterations) throws IOException {
        return create(file, FileKeyring.create(passphrase, iterations));
    }

    private static KeyVault create(Path file, Form form) throws IOException {
        if (Files.exists(file)) {
            throw new IOException(file + " exists");
        }
        KeyVault vault = new KeyVault(file, form);
        vault.save();
        return vault;
    }

    /**
     * Opens a file of either form.
     *
     * @throws IOException if the file cannot be read, if others may read it, if the passphrase is wrong, or if a key is
     *     malformed or weak
     */
    public static KeyVault open(Path file, char[] passphrase) throws IOException {
        OwnerOnly.checkFile(file);
        if (Files.size(file) > MAX_SIZE_BYTES) {
            throw new IOException(file + " is larger than " + MAX_SIZE_BYTES + " bytes");
        }
        byte[] content = Files.readAllBytes(file);
        try {
            Form form = Pkcs12Keyring.isContent(content)
                    ? new Pkcs12Keyring(passphrase)
                    : FileKeyring.of(content, passphrase);
            KeyVault vault = new KeyVault(file, form);
            vault.lastContent = content;
            for (Map.Entry<String, StoredKey> entry : form.decode(content).entrySet()) {
                check(entry.getKey(), entry.getValue());
                vault.keys.put(entry.getKey(), entry.getValue());
            }
            return vault;
        } catch (WrongPassphraseException wrong) {
            throw new IOException("the passphrase of " + file + " is wrong, or the file was changed", wrong);
        } catch (SealFault | IllegalArgumentException malformed) {
            throw new IOException(file + " is not a usable keyring: " + malformed.getMessage(), malformed);
        }
    }

    private static void check(String name, StoredKey key) {
        try {
            key.check();
        } catch (IllegalArgumentException unusable) {
            throw new IllegalArgumentException("key " + name + ": " + unusable.getMessage(), unusable);
        }
    }

    /** The content cannot be decrypted. */
    static final class WrongPassphraseException extends IOException {
        private static final long serialVersionUID = 1L;

        WrongPassphraseException(Throwable cause) {
            super("the passphrase is wrong", cause);
        }
    }

    private void save() throws IOException {
        if (file == null) {
            return;
        }
        byte[] content = form.encode(keys);
        if (content.length > MAX_SIZE_BYTES) {
            // Nobody could open it.
            throw new IOException(file + " would be larger than " + MAX_SIZE_BYTES + " bytes; use another keyring for"
                    + " further keys");
        }
        lastContent = FileTurn.take(file, () -> {
            // Another process may have added a key meanwhile, which would be lost.
            if (lastContent == null ? Files.exists(file) : !Arrays.equals(Files.readAllBytes(file), lastContent)) {
                throw new IOException(file + " was changed by another process since it was read; open it again");
            }
            replace(content);
            return content;
        });
    }

    private void replace(byte[] content) throws IOException {
        Path written = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(written);
        OwnerOnly.createFile(written);
        Files.write(written, content, StandardOpenOption.WRITE);
        // A key that is lost with the power may be in the registry already, or a destroyed one back.
        FileTurn.replace(file, written);
    }

    /** Returns the root key, or null if it is not here. */
    public RawKeyPair root() {
        return pair(ROOT);
    }

    /** Returns the key of a sender, or null if it is not here. */
    public RawKeyPair sender(String name) {
        return pair("sender/" + name);
    }

    /**
     * Returns the key of a generation of a role, or null if it is not here.
     *
     * @throws IllegalArgumentException if the key is malformed or weak
     */
    public RoleKey role(String name, int generation) {
        StoredKey stored = get(nameOf(name, generation));
        return stored == null ? null : stored.roleKey();
    }

    private static String nameOf(String role, int generation) {
        return "role/" + role + "/" + generation;
    }

    /** Generates the root key. */
    public RawKeyPair makeRoot() throws IOException {
        return add(ROOT, RawKeyPair.ofEd25519());
    }

    /** Generates the key of a sender. */
    public RawKeyPair makeSender(String name) throws IOException {
        return add("sender/" + Registry.checkName("sender", name), RawKeyPair.ofEd25519());
    }

    /** Generates the key of a generation of a role, of X25519. */
    public RawKeyPair makeRole(String name, int generation) throws IOException {
        return add(nameOf(Registry.checkName("role", name), generation), RawKeyPair.ofX25519());
    }

    /**
     * Adds the key of a generation of a role that was made outside of this vault, such as {@link RsaRoleKey#generate()}.
     *
     * @throws IOException if there is such a key, if the private key is in another process, or if the file cannot be
     *     written
     */
    public void addRole(String name, int generation, RoleKey key) throws IOException {
        StoredKey stored = StoredKey.of(key);
        if (stored.privateKey() == null) {
            throw new IOException("a key that is in another process cannot be stored in a keyring");
        }
        add(nameOf(Registry.checkName("role", name), generation), stored);
    }

    /** Returns the key of the tokens of a topic, or null if it is not here. */
    public TokenKey tokenKey(String topic) {
        StoredKey stored = get("token/" + topic);
        return stored == null ? null : new TokenKey(stored.privateKey());
    }

    /** Adds the key of the tokens of a topic. */
    public void addTokenKey(String topic, TokenKey key) throws IOException {
        add("token/" + Registry.checkName("topic", topic), new StoredKey(key.secret(), new byte[0]));
    }

    /**
     * Adds a key of another vault.
     *
     * @param name as {@link #names()} shows it
     * @throws IOException if this vault has such a key, or the other has none, or the file cannot be written
     */
    public void copy(KeyVault from, String name) throws IOException {
        StoredKey stored = from.get(name);
        if (stored == null) {
            throw new IOException("the keyring has no key " + name);
        }
        add(name, stored);
    }

    /** Destroys the key of a generation of a role. What was sealed for it only can then be read by nobody. */
    public void destroyRole(String name, int generation) throws IOException {
        lock.lock();
        try {
            String key = nameOf(name, generation);
            StoredKey destroyed = keys.remove(key);
            if (destroyed != null) {
                try {
                    save();
                } catch (IOException failed) {
                    // Another attempt must not find it destroyed.
                    keys.put(key, destroyed);
                    throw failed;
                }
                KeyEvents.keyDestroyed(key);
            }
        } finally {
            lock.unlock();
        }
    }

    /** The names of all keys: {@code root}, {@code sender/NAME}, {@code role/NAME/GENERATION} and {@code token/TOPIC}. */
    public Set<String> names() {
        lock.lock();
        try {
            return Set.copyOf(keys.keySet());
        } finally {
            lock.unlock();
        }
    }

    private RawKeyPair pair(String name) {
        StoredKey stored = get(name);
        return stored == null ? null : stored.pair();
    }

    private StoredKey get(String name) {
        lock.lock();
        try {
            return keys.get(name);
        } finally {
            lock.unlock();
        }
    }

    private RawKeyPair add(String name, RawKeyPair pair) throws IOException {
        add(name, StoredKey.of(pair));
        return pair;
    }

    private void add(String name, StoredKey key) throws IOException {
        lock.lock();
        try {
            if (keys.putIfAbsent(name, key) != null) {
                throw new IOException("the keyring already has the key " + name);
            }
            try {
                save();
            } catch (IOException failed) {
                keys.remove(name);
                throw failed;
            }
            KeyEvents.keyAdded(name);
        } finally {
            lock.unlock();
        }
    }
}
