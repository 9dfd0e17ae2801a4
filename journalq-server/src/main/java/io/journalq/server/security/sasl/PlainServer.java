package io.journalq.server.security.sasl;

import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.metadata.security.ScramImage;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * The side of the broker in PLAIN. The client sends its password, which is checked against the keys of SCRAM. That
 * takes several milliseconds, and is the same work for users that do not exist.
 *
 * <p>Source: RFC 4616.
 */
final class PlainServer implements SaslExchange {
    private static final byte SEPARATOR = 0;
    private static final int MAX_PASSWORD_BYTES = 1_024;
    private static final byte[] NO_MESSAGE = {};

    private final ScramUsers users;
    private final Executor passwords;

    /** @param passwords checks passwords */
    PlainServer(ScramUsers users, Executor passwords) {
        this.users = users;
        this.passwords = passwords;
    }

    @Override
    public CompletionStage<SaslStep> next(byte[] message) {
        int first = indexOf(message, 0);
        int second = first < 0 ? -1 : indexOf(message, first + 1);
        if (second < 0 || indexOf(message, second + 1) >= 0) {
            return CompletableFuture.completedFuture(new SaslStep.Failure(false));
        }
        String authorizationId = new String(message, 0, first, StandardCharsets.UTF_8);
        String user = new String(message, first + 1, second - first - 1, StandardCharsets.UTF_8);
        byte[] password = Arrays.copyOfRange(message, second + 1, message.length);
        boolean ownRights = authorizationId.isEmpty() || authorizationId.equals(user);
        if (!ownRights
                || ScramImage.nameProblem(user) != null
                || password.length == 0
                || password.length > MAX_PASSWORD_BYTES) {
            return CompletableFuture.completedFuture(new SaslStep.Failure(true));
        }
        return CompletableFuture.supplyAsync(() -> check(user, password), passwords);
    }

    private SaslStep check(String user, byte[] password) {
        ScramMechanism mechanism =
                users.has(user, ScramMechanism.SCRAM_SHA_256) || !users.has(user, ScramMechanism.SCRAM_SHA_512)
                        ? ScramMechanism.SCRAM_SHA_256
                        : ScramMechanism.SCRAM_SHA_512;
        boolean matches = mechanism.isPassword(users.find(user, mechanism), password);
        Arrays.fill(password, (byte) 0);
        return matches ? new SaslStep.Success(NO_MESSAGE, user) : new SaslStep.Failure(true);
    }

    private static int indexOf(byte[] message, int start) {
        for (int i = start; i < message.length; i++) {
            if (message[i] == SEPARATOR) {
                return i;
            }
        }
        return -1;
    }
}
