package io.journalq.server.security.sasl;

import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.metadata.security.ScramImage;
import io.journalq.server.metadata.security.ScramImage.ScramUser;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
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
