package io.journalq.server.security.sasl;

import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.metadata.security.ScramImage;
import io.journalq.server.metadata.security.ScramImage.ScramUser;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The credentials of users. A name without a credential gets one that no password matches, always the same, so that a
 * client cannot find out which users exist. Any thread.
 */
public final class ScramUsers {
    private static final int SALT_SIZE_BYTES = 16;
    /** Number of users that are looked at for a usual number of iterations. */
    private static final int MAX_SAMPLE = 16;

    private final Supplier<ScramImage> images;
    private final byte[] secret;

    /**
     * Creates the view of an image.
     *
     * @param images supplies the newest image
     * @param secret of this process, from which the salts of unknown users are derived
     */
    public ScramUsers(Supplier<ScramImage> images, byte[] secret) {
        this.images = images;
        this.secret = secret.clone();
    }

    /** Whether a user has a credential for a mechanism. */
    boolean has(String user, ScramMechanism mechanism) {
        return images.get().find(user, mechanism) != null;
    }

    /** The credential of a user, or one that no password matches. */
    ScramCredential find(String user, ScramMechanism mechanism) {
        ScramCredential found = images.get().find(user, mechanism);
        return found == null ? derived(user, mechanism) : found;
    }

    /**
     * The mechanism of the credential that a password of a user is checked against. A name without a credential gets
     * that of one of the first users, always of the same one: the checks of the mechanisms take different times.
     */
    ScramMechanism passwordMechanism(String user) {
        ScramImage image = images.get();
        Map<ScramMechanism, ScramCredential> own = image.of(user);
        if (!own.isEmpty()) {
            return passwordMechanism(own);
        }
        List<ScramUser> first = image.users().stream().limit(MAX_SAMPLE).toList();
        if (first.isEmpty()) {
            return ScramMechanism.SCRAM_SHA_256;
        }
        byte[] number = derive(ScramMechanism.SCRAM_SHA_256, "mechanism", user);
        int chosen = Math.floorMod(ByteBuffer.wrap(number).getInt(), first.size());
        return passwordMechanism(first.get(chosen).credentials());
    }

    private static ScramMechanism passwordMechanism(Map<ScramMechanism, ScramCredential> credentials) {
        return credentials.containsKey(ScramMechanism.SCRAM_SHA_256)
                ? ScramMechanism.SCRAM_SHA_256
                : ScramMechanism.SCRAM_SHA_512;
    }

    private ScramCredential derived(String user, ScramMechanism mechanism) {
        byte[] salt = derive(mechanism, "salt", user);
        return new ScramCredential(
                mechanism,
                Arrays.copyOf(salt, SALT_SIZE_BYTES),
                usualIterations(mechanism),
                derive(mechanism, "stored key", user),
                derive(mechanism, "server key", user));
    }

    private byte[] derive(ScramMechanism mechanism, String purpose, String user) {
        return mechanism.hmac(secret, (purpose + '\0' + user).getBytes(StandardCharsets.UTF_8));
    }

    private int usualIterations(ScramMechanism mechanism) {
        int seen = 0;
        for (ScramUser user : images.get().users()) {
            ScramCredential credential = user.credentials().get(mechanism);
            if (credential != null) {
                return credential.iterations();
            }
            seen++;
            if (seen == MAX_SAMPLE) {
                break;
            }
        }
        return ScramMechanism.MIN_ITERATIONS;
    }
}
