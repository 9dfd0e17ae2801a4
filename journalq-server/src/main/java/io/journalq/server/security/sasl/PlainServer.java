package io.journalq.server.security.sasl;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The side of the broker in PLAIN. The client sends its password, which is checked against the keys of SCRAM.
 *
 * <p>Source: RFC 4616.
 */
final class PlainServer implements SaslExchange {
    private static final byte SEPARATOR = 0;
    private static final byte[] NO_MESSAGE = {};

    private final PasswordCheck passwords;

    PlainServer(PasswordCheck passwords) {
        this.passwords = passwords;
    }

    @Override
    public CompletionStage<SaslStep> next(byte[] message) {
        int first = indexOf(message, 0);
        int second = first < 0 ? -1 : indexOf(message, first + 1);
        if (second < 0 || indexOf(message, second + 1) >= 0) {
            return CompletableFuture.completedFuture(SaslStep.Failure.malformed());
        }
        String authorizationId = new String(message, 0, first, StandardCharsets.UTF_8);
        String user = new String(message, first + 1, second - first - 1, StandardCharsets.UTF_8);
        byte[] password = Arrays.copyOfRange(message, second + 1, message.length);
        if (!authorizationId.isEmpty() && !authorizationId.equals(user)) {
            return CompletableFuture.completedFuture(new SaslStep.Failure(true, user, "no user may act as another"));
        }
        return passwords
                .check(user, password)
                .thenApply(right -> right
                        ? new SaslStep.Success(NO_MESSAGE, user)
                        : new SaslStep.Failure(true, user, passwords.refusal(user)));
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
