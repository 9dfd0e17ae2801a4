package io.journalq.server.security.sasl;

import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.metadata.security.ScramImage;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Checks passwords against the keys of SCRAM, for PLAIN and for the header {@code Authorization} of HTTP. A check takes
 * several milliseconds, and is the same work for users that do not exist. A password that was right is known for five
 * minutes, unless the credential of its user changes. Any thread.
 */
public final class PasswordCheck {
    private static final String BASIC = "basic ";
    private static final int MAX_PASSWORD_BYTES = 1_024;

    /** Of the header, so that it is not decoded if it is longer than any name and password. */
    private static final int MAX_HEADER_LENGTH = 4_096;

    private final ScramUsers users;
    private final Executor passwords;
    private final KnownPasswords known;

    /**
     * Creates the check.
     *
     * @param passwords runs the expensive checks
     * @param secret of this process, which protects the passwords that it knows
     */
    public PasswordCheck(ScramUsers users, Executor passwords, byte[] secret) {
        this.users = users;
        this.passwords = passwords;
        this.known = new KnownPasswords(secret, System::nanoTime);
    }

    /**
     * Checks a password.
     *
     * @param password in UTF-8; is overwritten
     * @return whether it is that of the user; completed at once if that is known
     * @throws RejectedExecutionException when too many checks wait
     */
    CompletionStage<Boolean> check(String user, byte[] password) {
        if (ScramImage.nameProblem(user) != null || password.length == 0 || password.length > MAX_PASSWORD_BYTES) {
            Arrays.fill(password, (byte) 0);
            return CompletableFuture.completedFuture(false);
        }
        ScramCredential credential = users.find(user, users.passwordMechanism(user));
        if (known.contains(user, password, credential)) {
            Arrays.fill(password, (byte) 0);
            return CompletableFuture.completedFuture(true);
        }
        try {
            return CompletableFuture.supplyAsync(() -> compute(user, password, credential), passwords);
        } catch (RejectedExecutionException full) {
            Arrays.fill(password, (byte) 0);
            throw full;
        }
    }

    /** Why the password of a user was refused, for the audit log only. */
    String refusal(String user) {
        boolean known = ScramImage.nameProblem(user) == null
                && (users.has(user, ScramMechanism.SCRAM_SHA_256) || users.has(user, ScramMechanism.SCRAM_SHA_512));
        return known ? "the password is wrong" : "there is no such user";
    }

    private boolean compute(String user, byte[] password, ScramCredential credential) {
        try {
            boolean matches = credential.mechanism().isPassword(credential, password);
            if (matches) {
                known.add(user, password, credential);
            }
            return matches;
        } finally {
            Arrays.fill(password, (byte) 0);
        }
    }

    /**
     * Checks the password in a header {@code Authorization} of HTTP. Refuses other schemes than Basic (RFC 7617).
     *
     * @throws RejectedExecutionException when too many checks wait
     */
    public CompletionStage<HttpLogin> logIn(String authorization) {
        byte[] decoded = decode(authorization);
        int colon = decoded == null ? -1 : indexOfColon(decoded);
        if (colon < 0) {
            return CompletableFuture.completedFuture(
                    HttpLogin.refused(HttpScheme.BASIC, null, "the header Authorization is not one of HTTP Basic"));
        }
        String user = new String(decoded, 0, colon, StandardCharsets.UTF_8);
        byte[] password = Arrays.copyOfRange(decoded, colon + 1, decoded.length);
        Arrays.fill(decoded, (byte) 0);
        return check(user, password)
                .thenApply(right -> new HttpLogin(HttpScheme.BASIC, user, 0, right ? null : refusal(user), null));
    }

    private static byte[] decode(String authorization) {
        if (authorization.length() > MAX_HEADER_LENGTH
                || !authorization.toLowerCase(Locale.ROOT).startsWith(BASIC)) {
            return null;
        }
        try {
            return Base64.getDecoder()
                    .decode(authorization.substring(BASIC.length()).strip());
        } catch (IllegalArgumentException malformed) {
            return null;
        }
    }

    private static int indexOfColon(byte[] text) {
        for (int i = 0; i < text.length; i++) {
            if (text[i] == ':') {
                return i;
            }
        }
        return -1;
    }
}
