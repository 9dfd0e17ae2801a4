package io.journalq.server.security.sasl;

import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.common.sasl.ScramMessages;
import io.journalq.common.sasl.ScramMessages.ClientFinal;
import io.journalq.common.sasl.ScramMessages.ClientFirst;
import io.journalq.common.sasl.ScramMessages.ServerFirst;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * The side of the broker in SCRAM. Its steps are the same for users that exist and for others. It never computes a
 * salted password, so that each step takes some microseconds.
 *
 * <p>Source: RFC 5802.
 */
final class ScramServer implements SaslExchange {
    private final ScramMechanism mechanism;
    private final ScramUsers users;
    private final Supplier<String> nonces;
    private State state = new Begun();

    private sealed interface State permits Begun, Challenged, Ended {}

    private record Begun() implements State {}

    private record Challenged(ClientFirst first, ServerFirst challenge, ScramCredential credential) implements State {}

    private record Ended() implements State {}

    /** @param nonces supplies texts that nobody can guess */
    ScramServer(ScramMechanism mechanism, ScramUsers users, Supplier<String> nonces) {
        this.mechanism = mechanism;
        this.users = users;
        this.nonces = nonces;
    }

    @Override
    public CompletionStage<SaslStep> next(byte[] message) {
        SaslStep step;
        try {
            step = advance(new String(message, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException malformed) {
            step = SaslStep.Failure.malformed();
        }
        if (!(step instanceof SaslStep.Challenge)) {
            state = new Ended();
        }
        return CompletableFuture.completedFuture(step);
    }

    private SaslStep advance(String message) {
        if (state instanceof Begun) {
            return challenge(ClientFirst.parse(message));
        }
        return state instanceof Challenged challenged
                ? check(challenged, ClientFinal.parse(message))
                : SaslStep.Failure.malformed();
    }

    private SaslStep challenge(ClientFirst first) {
        if (first.authorizationId() != null && !first.authorizationId().equals(first.user())) {
            return new SaslStep.Failure(true, first.user(), "no user may act as another");
        }
        ScramCredential credential = users.find(first.user(), mechanism);
        ServerFirst challenge =
                ServerFirst.of(first.nonce() + nonces.get(), credential.salt(), credential.iterations());
        state = new Challenged(first, challenge, credential);
        return new SaslStep.Challenge(challenge.text().getBytes(StandardCharsets.UTF_8));
    }

    private SaslStep check(Challenged before, ClientFinal last) {
        if (!last.gs2Header().equals(before.first().gs2Header())
                || !last.nonce().equals(before.challenge().nonce())) {
            return SaslStep.Failure.malformed();
        }
        String authMessage = ScramMessages.authMessage(before.first(), before.challenge(), last.unproven());
        if (!mechanism.isProven(before.credential(), authMessage, last.proof())) {
            String user = before.first().user();
            return new SaslStep.Failure(
                    true,
                    user,
                    users.has(user, mechanism)
                            ? "the password is wrong"
                            : "there is no such user with a password for this mechanism");
        }
        byte[] signature = mechanism.serverSignature(before.credential(), authMessage);
        return new SaslStep.Success(
                ScramMessages.serverFinal(signature).getBytes(StandardCharsets.UTF_8),
                before.first().user());
    }
}
