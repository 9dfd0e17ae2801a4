package io.journalq.seal;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The keys of subjects ({@link SealMode#SUBJECT}): one for each key of a record in a topic, such as the number of a
 * customer. A client that reads or sends records of a subject needs its key, in addition to that of the epoch. When the
 * key is destroyed, nobody can read these records any more ({@link #shred}).
 *
 * <p>The keys are in a directory that senders and consumers share, with one file for each subject. The file is encrypted
 * under a passphrase, and its name does not tell the subject. Clients remember a key for {@link #MAX_AGE}.
 *
 * <p>Any number of processes can use the directory at the same time. Thread-safe.
 */
public final class SubjectKeys {
    /** How long a client can still read records of a subject whose key another process has destroyed. */
    public static final Duration MAX_AGE = Duration.ofMinutes(5);

    private static final int KEY_SIZE_BYTES = 32;
    private static final int SALT_SIZE_BYTES = 16;
    private static final int NONCE_SIZE_BYTES = 12;
    private static final int TAG_SIZE_BITS = 128;
    private static final int MAX_REMEMBERED = 10_000;
    private static final int DIRECTORY_DIGITS = 2;
    private static final String STORE = "store";
    private static final byte[] STORE_MAGIC = "JQS1".getBytes(US_ASCII);
    private static final byte[] KEY_MAGIC = "JQS2".getBytes(US_ASCII);
    private static final byte[] CHECK_LABEL = "JQE1 subjects check\0".getBytes(US_ASCII);
    private static final byte[] NAME_LABEL = "JQE1 subjects name\0".getBytes(US_ASCII);
    private static final byte[] WRAP_LABEL = "JQE1 subjects wrap\0".getBytes(US_ASCII);
    private static final byte[] RECORD_LABEL = "JQE1 subject record".getBytes(US_ASCII);

    /** What takes the place of a destroyed key. */
    private static final byte[] DESTROYED = {};

    private static final SecureRandom RANDOM = new SecureRandom();

    private final Path directory;
    private final byte[] nameKey;
    private final SecretKeySpec wrapKey;
    private final LongSupplier nanoTime;
    private final Map<String, Remembered> remembered = new ConcurrentHashMap<>();

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Remembered(byte[] key, long atNanos) {}

    /** What there is of the key of a subject. */
    public enum State {
        /** There was never a key. */
        NONE,
        /** There is a key. */
        PRESENT,
        /** The key was destroyed, or {@link #shred} was called before there was one: none is made any more. */
        DESTROYED
    }

    /** The key of a subject was destroyed. */
    static final class ShreddedException extends Exception {
        private static final long serialVersionUID = 1L;
    }

    private SubjectKeys(Path directory, byte[] master, LongSupplier nanoTime) {
        this.directory = directory;
        this.nameKey = Hkdf.hmac(master, NAME_LABEL);
        this.wrapKey = new SecretKeySpec(Hkdf.hmac(master, WRAP_LABEL), "AES");
        this.nanoTime = nanoTime;
    }

    /**
     * Creates a directory for keys, which only its owner can read.
     *
     * @throws FileAlreadyExistsException if there is something at this place
     * @throws IOException if it cannot be written, or if its file system has no POSIX permissions
     */
    public static SubjectKeys create(Path directory, char[] passphrase) throws IOException {
        return create(directory, passphrase, FileKeyring.ITERATIONS, System::nanoTime);
    }

    static SubjectKeys create(Path directory, char[] passphrase, int iterations, LongSupplier nanoTime)
            throws IOException {
        OwnerOnly.createDirectory(directory);
        byte[] salt = new byte[SALT_SIZE_BYTES];
        RANDOM.nextBytes(salt);
        byte[] master = FileKeyring.derive(passphrase, salt, iterations).getEncoded();
        byte[] store = new FieldWriter()
                .bytes(STORE_MAGIC)
                .number32(iterations)
                .bytes(salt)
                .bytes(Hkdf.hmac(master, CHECK_LABEL))
                .done();
        replace(directory.resolve(STORE), store);
        return new SubjectKeys(directory, master, nanoTime);
    }

    /**
     * Opens a directory of keys.
     *
     * @throws IOException if it is not one, if the passphrase is wrong, if others may read it, or if its file system has
     *     no POSIX permissions
     */
    public static SubjectKeys open(Path directory, char[] passphrase) throws IOException {
        return open(directory, passphrase, System::nanoTime);
    }

    static SubjectKeys open(Path directory, char[] passphrase, LongSupplier nanoTime) throws IOException {
        OwnerOnly.checkDirectory(directory);
        byte[] store = Files.readAllBytes(directory.resolve(STORE));
        byte[] master;
        try {
            FieldReader in = new FieldReader(store);
            in.expect(STORE_MAGIC, "a directory of keys of subjects");
            int iterations = in.number32();
            byte[] salt = in.bytes(SALT_SIZE_BYTES);
            byte[] check = in.bytes(KEY_SIZE_BYTES);
            in.expectEnd();
            master = FileKeyring.derive(passphrase, salt, FileKeyring.checked(iterations))
                    .getEncoded();
            if (!MessageDigest.isEqual(check, Hkdf.hmac(master, CHECK_LABEL))) {
                throw new IOException("the passphrase of " + directory + " is wrong");
            }
        } catch (SealFault | IllegalArgumentException malformed) {
            throw new IOException(directory.resolve(STORE) + ": " + malformed.getMessage(), malformed);
        }
        return new SubjectKeys(directory, master, nanoTime);
    }

    /** The key for the records of a subject, which nobody can compute who lacks one of the two. */
    static SecretKeySpec recordKey(byte[] subjectKey, SecretKeySpec epochKey) {
        byte[] both = Hkdf.extract(subjectKey, epochKey.getEncoded());
        return new SecretKeySpec(Hkdf.expand(both, RECORD_LABEL, KEY_SIZE_BYTES), "AES");
    }

    /**
     * The key of a subject, which is made if there is none.
     *
     * @throws ShreddedException if it was destroyed
     * @throws IOException if the directory cannot be read or written
     */
    byte[] make(String topic, byte[] subject) throws IOException, ShreddedException {
        byte[] known = find(topic, subject);
        if (known != null) {
            return known;
        }
        String id = id(topic, subject);
        return existing(change(() -> {
            byte[] other = read(id);
            if (other == null) {
                other = new byte[KEY_SIZE_BYTES];
                RANDOM.nextBytes(other);
                write(id, other);
            }
            return remember(id, other);
        }));
    }

    /**
     * The key of a subject; null if there was never one.
     *
     * @throws ShreddedException if it was destroyed
     * @throws IOException if the directory cannot be read
     */
    byte[] find(String topic, byte[] subject) throws IOException, ShreddedException {
        String id = id(topic, subject);
        Remembered recent = remembered.get(id);
        if (recent != null && nanoTime.getAsLong() - recent.atNanos <= MAX_AGE.toNanos()) {
            return existing(recent.key);
        }
        byte[] key = read(id);
        return key == null ? null : existing(remember(id, key));
    }

    private static byte[] existing(byte[] key) throws ShreddedException {
        if (key.length == 0) {
            throw new ShreddedException();
        }
        return key;
    }

    private byte[] remember(String id, byte[] key) {
        if (remembered.size() >= MAX_REMEMBERED) {
            remembered.clear();
        }
        remembered.put(id, new Remembered(key, nanoTime.getAsLong()));
        return key;
    }

    /**
     * Destroys the key of a subject for ever. Nobody can read its records any more, not even those in backups of the
     * brokers, and nobody can send more. Other processes may remember the key for {@link #MAX_AGE}. Copies of the directory
     * must be destroyed, too.
     *
     * @param topic the topic
     * @param subject the key of its records
     * @return whether there was a key
     */
    public boolean shred(String topic, byte[] subject) throws IOException {
        String id = id(topic, subject);
        return change(() -> {
            byte[] before = read(id);
            if (before == null) {
                write(id, DESTROYED);
            } else if (before.length > 0) {
                destroy(id);
            }
            remember(id, DESTROYED);
            if (before != null && before.length > 0) {
                KeyEvents.subjectShredded(topic);
            }
            return before != null && before.length > 0;
        });
    }

    /**
     * Reads whether a subject has a key, and changes nothing.
     *
     * @param topic the topic
     * @param subject the key of its records
     * @throws IOException if the directory cannot be read
     */
    public State state(String topic, byte[] subject) throws IOException {
        byte[] key = read(id(topic, subject));
        if (key == null) {
            return State.NONE;
        }
        return key.length == 0 ? State.DESTROYED : State.PRESENT;
    }

    private String id(String topic, byte[] subject) {
        byte[] name =
                Hkdf.hmac(nameKey, new FieldWriter().text(topic).bytes(subject).done());
        return HexFormat.of().formatHex(name);
    }

    private Path file(String id) {
        return directory.resolve(id.substring(0, DIRECTORY_DIGITS)).resolve(id);
    }

    /** The key in a file; empty if it was destroyed, and null if there is none. */
    private byte[] read(String id) throws IOException {
        byte[] content;
        try {
            content = Files.readAllBytes(file(id));
        } catch (NoSuchFileException none) {
            if (!Files.exists(directory.resolve(STORE))) {
                throw new IOException(directory + " is not there any more", none);
            }
            return null;
        }
        try {
            FieldReader in = new FieldReader(content);
            in.expect(KEY_MAGIC, "the key of a subject");
            byte[] nonce = in.bytes(NONCE_SIZE_BYTES);
            byte[] key = crypt(Cipher.DECRYPT_MODE, id, nonce, in.bytes(in.leftBytes()));
            if (key.length != 0 && key.length != KEY_SIZE_BYTES) {
                throw new IOException(file(id) + " has no key of " + KEY_SIZE_BYTES + " bytes");
            }
            return key;
        } catch (SealFault | GeneralSecurityException changed) {
            throw new IOException(file(id) + " was changed", changed);
        }
    }

    private byte[] crypt(int mode, String id, byte[] nonce, byte[] text) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, wrapKey, new GCMParameterSpec(TAG_SIZE_BITS, nonce));
        cipher.updateAAD(KEY_MAGIC);
        cipher.updateAAD(id.getBytes(US_ASCII));
        return cipher.doFinal(text);
    }

    /** Writes a file that is complete or not there, also after a power loss. */
    private static void replace(Path file, byte[] content) throws IOException {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        Files.write(part, content);
        FileTurn.replace(file, part);
    }

    /** Changes the directory, while nobody else does. */
    private <T> T change(FileTurn.Change<T> change) throws IOException {
        return FileTurn.take(directory.resolve(STORE), change);
    }

    private void write(String id, byte[] key) throws IOException {
        Path file = file(id);
        if (!Files.exists(file.getParent())) {
            Files.createDirectory(file.getParent());
            FileTurn.syncDirectory(directory);
        }
        byte[] nonce = new byte[NONCE_SIZE_BYTES];
        RANDOM.nextBytes(nonce);
        try {
            replace(
                    file,
                    new FieldWriter()
                            .bytes(KEY_MAGIC)
                            .bytes(nonce)
                            .bytes(crypt(Cipher.ENCRYPT_MODE, id, nonce, key))
                            .done());
        } catch (GeneralSecurityException broken) {
            throw new IllegalStateException("cannot encrypt: " + broken.getMessage(), broken);
        }
    }

    /** Puts the mark in the place of a key, and overwrites its blocks, which would otherwise stay on the disk. */
    private void destroy(String id) throws IOException {
        try (FileChannel key = FileChannel.open(file(id), StandardOpenOption.WRITE)) {
            write(id, DESTROYED);
            ByteBuffer rest = ByteBuffer.allocate((int) key.size());
            while (rest.hasRemaining()) {
                key.write(rest);
            }
            key.force(true);
        }
    }
}
