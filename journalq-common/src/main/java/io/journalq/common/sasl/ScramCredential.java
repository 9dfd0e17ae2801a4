package io.journalq.common.sasl;

import java.util.Arrays;

/**
 * What a broker keeps of the password of a user. The password cannot be computed from it, but guesses can be tested.
 * Immutable, any thread. The arrays must not be changed.
 */
public final class ScramCredential {
    private final ScramMechanism mechanism;
    private final byte[] salt;
    private final int iterations;
    private final byte[] storedKey;
    private final byte[] serverKey;

    /** Creates a credential. {@link ScramMechanism#credential} computes the keys. */
    public ScramCredential(ScramMechanism mechanism, byte[] salt, int iterations, byte[] storedKey, byte[] serverKey) {
        this.mechanism = mechanism;
        this.salt = salt;
        this.iterations = iterations;
        this.storedKey = storedKey;
        this.serverKey = serverKey;
    }

    public ScramMechanism mechanism() {
        return mechanism;
    }

    public byte[] salt() {
        return salt;
    }

    public int iterations() {
        return iterations;
    }

    /** The hash of the key that a client proves to have. */
    public byte[] storedKey() {
        return storedKey;
    }

    /** The key that the broker proves to have. */
    public byte[] serverKey() {
        return serverKey;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ScramCredential that
                && mechanism == that.mechanism
                && iterations == that.iterations
                && Arrays.equals(salt, that.salt)
                && Arrays.equals(storedKey, that.storedKey)
                && Arrays.equals(serverKey, that.serverKey);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(storedKey);
    }

    /** Shows no key. */
    @Override
    public String toString() {
        return mechanism.mechanismName() + "(iterations=" + iterations + ")";
    }
}
