package io.journalq.server.security.token;

import io.journalq.server.metadata.security.ScramImage;
import io.journalq.server.security.token.JsonWebToken.BadTokenException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Checks tokens: the signature, who issued them for whom, and their times. A token needs {@code iss}, {@code aud},
 * {@code exp}, {@code kid} and the claim with the user. Any thread.
 */
public final class TokenValidator {
    private static final long MAX_SECONDS = Long.MAX_VALUE / 10_000;

    private final TokenRules rules;
    private final JwksSource source;
    private final Executor checks;
    private final Clock clock;

    /**
     * The owner of a token.
     *
     * @param user null if the token is refused
     * @param lifetimeMs after which the token expires, at least 1
     * @param refusal why the token is refused, without anything of it; null if it is accepted
     */
    public record Owner(String user, long lifetimeMs, String refusal) {
        private static Owner refused(String reason) {
            return new Owner(null, 0, reason);
        }
    }

    /** @param checks runs the checks of signatures */
    public TokenValidator(TokenRules rules, JwksSource source, Executor checks, Clock clock) {
        this.rules = rules;
        this.source = source;
        this.checks = checks;
        this.clock = clock;
    }

    /**
     * Checks a token.
     *
     * @throws java.util.concurrent.RejectedExecutionException when too many checks wait
     */
    public CompletionStage<Owner> check(String text) {
        JsonWebToken token;
        Owner owner;
        try {
            token = JsonWebToken.parse(text);
            owner = ownerOf(token);
        } catch (BadTokenException refused) {
            return CompletableFuture.completedFuture(Owner.refused(refused.getMessage()));
        }
        CompletableFuture<JwksKeys> keys = source.keysFor(token.keyId());
        if (keys.isDone()) {
            JwksKeys known = keys.join();
            return CompletableFuture.supplyAsync(() -> signed(known, token, owner), checks);
        }
        return keys.thenApplyAsync(known -> signed(known, token, owner), checks);
    }

    private static Owner signed(JwksKeys known, JsonWebToken token, Owner owner) {
        return known.isSigned(token) ? owner : Owner.refused("no known key has signed the token");
    }

    private Owner ownerOf(JsonWebToken token) throws BadTokenException {
        Map<String, Object> claims = token.claims();
        if (!rules.issuer().equals(claims.get("iss"))) {
            throw new BadTokenException("the token has another issuer");
        }
        if (!isForUs(claims.get("aud"))) {
            throw new BadTokenException("the token is for another audience");
        }
        long nowMs = clock.millis();
        long endMs = timeMs(claims.get("exp")) + rules.clockSkewMs();
        if (endMs <= nowMs) {
            throw new BadTokenException("the token has expired");
        }
        if (claims.containsKey("nbf") && timeMs(claims.get("nbf")) - rules.clockSkewMs() > nowMs) {
            throw new BadTokenException("the token is not valid yet");
        }
        String user = JsonFields.text(claims, rules.userClaim());
        if (user == null || ScramImage.nameProblem(user) != null) {
            throw new BadTokenException("the token names no user");
        }
        return new Owner(user, endMs - nowMs, null);
    }

    private boolean isForUs(Object audience) {
        return audience instanceof List<?> list
                ? list.stream()
                        .anyMatch(one ->
                                one instanceof String text && rules.audiences().contains(text))
                : audience instanceof String text && rules.audiences().contains(text);
    }

    private static long timeMs(Object seconds) throws BadTokenException {
        if (!(seconds instanceof Number number) || !(Math.abs(number.doubleValue()) <= MAX_SECONDS)) {
            throw new BadTokenException("a time of the token is missing or malformed");
        }
        return TimeUnit.SECONDS.toMillis(number.longValue());
    }
}
