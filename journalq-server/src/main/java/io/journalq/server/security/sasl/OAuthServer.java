package io.journalq.server.security.sasl;

import io.journalq.server.security.token.TokenValidator;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The side of the broker in OAUTHBEARER. The client sends one message with a token. Other fields of the message are
 * ignored. A failure is the response of SaslAuthenticate, and no further message of the mechanism.
 *
 * <p>Source: RFC 7628 section 3.1.
 */
final class OAuthServer implements SaslExchange {
    private static final byte[] NO_MESSAGE = {};
    private static final int MAX_LENGTH = 32 * 1024;

    /** The fields are a sequence of NAME=VALUE, each followed by 0x01. */
    private static final Pattern MESSAGE =
            Pattern.compile("n,(?:a=(?<user>[^,\\x00\\x01]+))?,\\x01(?<fields>[^\\x00]*)\\x01", Pattern.DOTALL);

    private static final Pattern TOKEN =
            Pattern.compile("(?:^|\\x01)auth=[Bb]earer +(?<token>[A-Za-z0-9._~+/=-]+)\\x01");

    private final TokenValidator tokens;

    OAuthServer(TokenValidator tokens) {
        this.tokens = tokens;
    }

    @Override
    public CompletionStage<SaslStep> next(byte[] message) {
        String text = message.length > MAX_LENGTH ? "" : new String(message, StandardCharsets.UTF_8);
        Matcher matcher = MESSAGE.matcher(text);
        if (!matcher.matches()) {
            return CompletableFuture.completedFuture(SaslStep.Failure.malformed());
        }
        Matcher token = TOKEN.matcher(matcher.group("fields"));
        if (!token.find()) {
            return CompletableFuture.completedFuture(SaslStep.Failure.malformed());
        }
        String wanted = matcher.group("user");
        return tokens.check(token.group("token")).thenApply(owner -> step(owner, wanted));
    }

    private static SaslStep step(TokenValidator.Owner owner, String wanted) {
        if (owner.refusal() != null) {
            return new SaslStep.Failure(true, wanted, owner.refusal());
        }
        return wanted != null && !wanted.equals(owner.user())
                ? new SaslStep.Failure(true, wanted, "the token belongs to another user")
                : new SaslStep.Success(NO_MESSAGE, owner.user(), owner.lifetimeMs());
    }
}
