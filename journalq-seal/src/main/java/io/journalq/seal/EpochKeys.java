package io.journalq.seal;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret of an epoch, and the keys that are derived from it: one for each mode and partition. Two senders never share
 * an epoch. Thread-safe.
 */
final class EpochKeys implements AutoCloseable {
    static final int SECRET_SIZE_BYTES = 32;

    /** The maximum number of partitions whose keys are kept. */
    private static final int MAX_CACHED_KEYS = 10_000;

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final byte[] KEY_LABEL = "JQE1 key".getBytes(US_ASCII);
    private static final byte[] COMMITMENT_LABEL = "JQE1 commitment".getBytes(US_ASCII);

    private final Uuid id;
    private final byte[] secret;
    private final Map<Slot, SecretKeySpec> keys = new ConcurrentHashMap<>();
    private volatile boolean closed;

    private record Slot(SealMode mode, String realm, TopicPartition partition) {}

    EpochKeys(Uuid id, byte[] secret) {
        this.id = id;
        this.secret = secret;
    }

    /** Makes an epoch with a random id and secret. */
    static EpochKeys random() {
        byte[] secret = new byte[SECRET_SIZE_BYTES];
        RANDOM.nextBytes(secret);
        return new EpochKeys(new Uuid(RANDOM.nextLong(), RANDOM.nextLong()), secret);
    }

    Uuid id() {
        return id;
    }

    /** The secret itself. */
    byte[] secret() {
        return secret;
    }

    static byte[] bytes(Uuid id) {
        return ByteBuffer.allocate(Uuid.SIZE_BYTES)
                .putLong(id.mostSignificantBits())
                .putLong(id.leastSignificantBits())
                .array();
    }

    /**
     * The AES-256 key for one partition.
     *
     * @throws IllegalStateException if the secret has been overwritten: a key that is derived from zeros protects nothing
     */
    SecretKeySpec key(SealMode mode, String realm, TopicPartition partition) {
        if (keys.size() >= MAX_CACHED_KEYS) {
            keys.clear();
        }
        SecretKeySpec key = keys.computeIfAbsent(new Slot(mode, realm, partition), this::derive);
        if (closed) {
            throw new IllegalStateException("the keys have been closed");
        }
        return key;
    }

    private SecretKeySpec derive(Slot slot) {
        byte[] info = new FieldWriter()
                .bytes(KEY_LABEL)
                .number8(slot.mode.code())
                .text(slot.realm)
                .text(slot.partition.topic())
                .number32(slot.partition.partition())
                .done();
        byte[] key = Hkdf.expand(Hkdf.extract(bytes(id), secret), info, SECRET_SIZE_BYTES);
        return new SecretKeySpec(key, "AES");
    }

    /**
     * A value that only this secret has. AES-GCM alone does not prevent a sender from giving two recipients different
     * secrets that both open a batch.
     */
    byte[] commitment() {
        return Hkdf.hmac(secret, COMMITMENT_LABEL, bytes(id));
    }

    /** Overwrites the secret. */
    @Override
    public void close() {
        closed = true;
        Arrays.fill(secret, (byte) 0);
        keys.clear();
    }
}
