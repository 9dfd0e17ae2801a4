package io.journalq.seal;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import javax.crypto.Cipher;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Private keys: of the root, of senders, and of all generations of roles. Either in memory, or in a file that only its
 * owner may read, encrypted by AES-256-GCM with a key from a passphrase (PBKDF2 with HMAC-SHA-512). Thread-safe.
 */
public final class KeyVault {
    /** The number of PBKDF2 iterations of new files. One attempt takes about half a second. */
    static final int ITERATIONS = 1_000_000;

    private static final int MAX_ITERATIONS = 20_000_000;
    private static final int MAX_SIZE_BYTES = 1024 * 1024;
    private static final byte[] MAGIC = "JQV1".getBytes(US_ASCII);
    private static final int SALT_SIZE_BYTES = 16;
    private static final int NONCE_SIZE_BYTES = 12;
    private static final int KEY_SIZE_BITS = 256;
    private static final int TAG_SIZE_BITS = 128;
    private static final String ROOT = "root";
    private static final String OWNER_ONLY = "rw-------";
    private static final SecureRandom RANDOM = new SecureRandom();

    private final ReentrantLock lock = new ReentrantLock();
    private final SortedMap<String, RawKeyPair> keys = new TreeMap<>();
    /** Null for a vault in memory. */
    private final Path file;

    private final int iterations;
    private final byte[] salt;
    private final SecretKeySpec fileKey;

    private KeyVault(Path file, int iterations, byte[] salt, SecretKeySpec fileKey) {
        this.file = file;
        this.iterations = iterations;
        this.salt = salt;
        this.fileKey = fileKey;
    }

    /** Returns an empty vault in memory. */
    public static KeyVault inMemory() {
        return new KeyVault(null, 0, null, null);
    }

    /**
     * Creates a file without keys.
     *
     * @throws IOException if the file exists or cannot be written
     */
    public static KeyVault create(Path file, char[] passphrase) throws IOException {
        return create(file, passphrase, ITERATIONS);
    }

    /**
     * Creates a file without keys.
     *
     * @param iterations number of PBKDF2 iterations, from 1 to 20,000,000. Each makes a guess of the passphrase, and each
     *     opening of the file, slower. Fewer than the default of 1,000,000 suit random passphrases only.
     * @throws IOException if the file exists or cannot be written
     * @throws IllegalArgumentException if the number of iterations is out of range
     */
    public static KeyVault create(Path file, char[] passphrase, int iterations) throws IOException {
        if (!isInRange(iterations)) {
            throw new IllegalArgumentException(
                    "iterations must be from 1 to " + MAX_ITERATIONS + ", was " + iterations);
        }
        if (Files.exists(file)) {
            throw new IOException(file + " exists");
        }
        byte[] salt = new byte[SALT_SIZE_BYTES];
        RANDOM.nextBytes(salt);
        KeyVault vault = new KeyVault(file, iterations, salt, derive(passphrase, salt, iterations));
        vault.save();
        return vault;
    }

    /**
     * Opens a file.
     *
     * @throws IOException if the file cannot be read, if others may read it, or if the passphrase is wrong
     */
    public static KeyVault open(Path file, char[] passphrase) throws IOException {
        Set<PosixFilePermission> permissions = permissions(file);
        if (permissions != null && !PosixFilePermissions.fromString(OWNER_ONLY).containsAll(permissions)) {
            throw new IOException(file + " may be read by others; run chmod 600 " + file);
        }
        if (Files.size(file) > MAX_SIZE_BYTES) {
            throw new IOException(file + " is larger than " + MAX_SIZE_BYTES + " bytes");
        }
        try {
            FieldReader in = new FieldReader(Files.readAllBytes(file));
            in.expect(MAGIC, "a keyring");
            int iterations = in.number32();
            if (!isInRange(iterations)) {
                throw new IOException(file + " has an invalid number of iterations");
            }
            byte[] salt = in.bytes(SALT_SIZE_BYTES);
            KeyVault vault = new KeyVault(file, iterations, salt, derive(passphrase, salt, iterations));
            byte[] nonce = in.bytes(NONCE_SIZE_BYTES);
            byte[] text = vault.crypt(Cipher.DECRYPT_MODE, nonce, in.bytes(in.leftBytes()));
            vault.parse(new String(text, UTF_8));
            return vault;
        } catch (GeneralSecurityException wrong) {
            throw new IOException("the passphrase of " + file + " is wrong, or the file was changed", wrong);
        } catch (SealFault | IllegalArgumentException malformed) {
            throw new IOException(file + " is not a keyring: " + malformed.getMessage(), malformed);
        }
    }

    private static boolean isInRange(int iterations) {
        return iterations >= 1 && iterations <= MAX_ITERATIONS;
    }

    private static Set<PosixFilePermission> permissions(Path file) throws IOException {
        try {
            return Files.getPosixFilePermissions(file);
        } catch (UnsupportedOperationException notPosix) {
            return null;
        }
    }

    private static SecretKeySpec derive(char[] passphrase, byte[] salt, int iterations) {
        try {
            byte[] key = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA512")
                    .generateSecret(new PBEKeySpec(passphrase, salt, iterations, KEY_SIZE_BITS))
                    .getEncoded();
            return new SecretKeySpec(key, "AES");
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("this Java has no PBKDF2 with SHA-512", missing);
        }
    }

    private byte[] crypt(int mode, byte[] nonce, byte[] text) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, fileKey, new GCMParameterSpec(TAG_SIZE_BITS, nonce));
        cipher.updateAAD(MAGIC);
        cipher.updateAAD(ByteBuffer.allocate(Integer.BYTES).putInt(iterations).array());
        cipher.updateAAD(salt);
        return cipher.doFinal(text);
    }

    private void parse(String text) {
        for (String line : text.split("\n", -1)) {
            String[] words = line.split(" ", -1);
            if (words.length == 3) {
                Base64.Decoder base64 = Base64.getDecoder();
                keys.put(words[0], new RawKeyPair(base64.decode(words[1]), base64.decode(words[2])));
            } else if (!line.isEmpty()) {
                throw new IllegalArgumentException("an unknown line");
            }
        }
    }

    private void save() throws IOException {
        if (file == null) {
            return;
        }
        StringBuilder text = new StringBuilder();
        Base64.Encoder base64 = Base64.getEncoder();
        keys.forEach((name, pair) -> text.append(name)
                .append(' ')
                .append(base64.encodeToString(pair.privateKey()))
                .append(' ')
                .append(base64.encodeToString(pair.publicKey()))
                .append('\n'));
        byte[] nonce = new byte[NONCE_SIZE_BYTES];
        RANDOM.nextBytes(nonce);
        byte[] plain = text.toString().getBytes(UTF_8);
        byte[] content;
        try {
            content = new FieldWriter()
                    .bytes(MAGIC)
                    .number32(iterations)
                    .bytes(salt)
                    .bytes(nonce)
                    .bytes(crypt(Cipher.ENCRYPT_MODE, nonce, plain))
                    .done();
        } catch (GeneralSecurityException broken) {
            throw new IllegalStateException("cannot encrypt: " + broken.getMessage(), broken);
        } finally {
            Arrays.fill(plain, (byte) 0);
        }
        Path written = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(written);
        try {
            Files.createFile(
                    written, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OWNER_ONLY)));
        } catch (UnsupportedOperationException notPosix) {
            Files.createFile(written);
        }
        Files.write(written, content, StandardOpenOption.WRITE, StandardOpenOption.SYNC);
        Files.move(written, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Returns the root key, or null if it is not here. */
    public RawKeyPair root() {
        return get(ROOT);
    }

    /** Returns the key of a sender, or null if it is not here. */
    public RawKeyPair sender(String name) {
        return get("sender/" + name);
    }

    /** Returns the key of a generation of a role, or null if it is not here. */
    public RawKeyPair role(String name, int generation) {
        return get("role/" + name + "/" + generation);
    }

    /** Generates the root key. */
    public RawKeyPair makeRoot() throws IOException {
        return add(ROOT, RawKeyPair.ofEd25519());
    }

    /** Generates the key of a sender. */
    public RawKeyPair makeSender(String name) throws IOException {
        return add("sender/" + Registry.checkName("sender", name), RawKeyPair.ofEd25519());
    }

    /** Generates the key of a generation of a role. */
    public RawKeyPair makeRole(String name, int generation) throws IOException {
        return add("role/" + Registry.checkName("role", name) + "/" + generation, RawKeyPair.ofX25519());
    }

    /** Adds the key of a generation of a role that was made in another vault. */
    public void addRole(String name, int generation, RawKeyPair pair) throws IOException {
        add("role/" + Registry.checkName("role", name) + "/" + generation, pair);
    }

    /** Destroys the key of a generation of a role. What was sealed for it only can then be read by nobody. */
    public void destroyRole(String name, int generation) throws IOException {
        lock.lock();
        try {
            if (keys.remove("role/" + name + "/" + generation) != null) {
                save();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The names of all keys: {@code root}, {@code sender/NAME} and {@code role/NAME/GENERATION}. */
    public Set<String> names() {
        lock.lock();
        try {
            return Set.copyOf(keys.keySet());
        } finally {
            lock.unlock();
        }
    }

    private RawKeyPair get(String name) {
        lock.lock();
        try {
            return keys.get(name);
        } finally {
            lock.unlock();
        }
    }

    private RawKeyPair add(String name, RawKeyPair pair) throws IOException {
        lock.lock();
        try {
            if (keys.putIfAbsent(name, pair) != null) {
                throw new IOException("the keyring already has the key " + name);
            }
            try {
                save();
            } catch (IOException failed) {
                keys.remove(name);
                throw failed;
            }
            return pair;
        } finally {
            lock.unlock();
        }
    }
}
