package io.journalq.server.security.sasl;

import io.journalq.server.security.token.TokenValidator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks tokens in the header {@code Authorization} of HTTP, as OAUTHBEARER does. Any thread.
 *
 * <p>Source: RFC 6750 section 2.1.
 */
public final class TokenLogin {
    private static final Pattern HEADER =
            Pattern.compile("bearer +(?<token>[A-Za-z0-9._~+/-]+=*) *", Pattern.CASE_INSENSITIVE);

    private final TokenValidator tokens;

    public TokenLogin(TokenValidator tokens) {
        this.tokens = tokens;
    }

    /**
     * Checks the token in a header. Refuses other schemes than Bearer.
     *
     * @throws java.util.concurrent.RejectedExecutionException when too many checks wait
     */
    public CompletionStage<HttpLogin> logIn(String authorization) {
        Matcher matcher = HEADER.matcher(authorization);
        if (!matcher.matches()) {
            return CompletableFuture.completedFuture(
                    HttpLogin.refused(HttpScheme.BEARER, null, "the header Authorization is not one of HTTP Bearer"));
        }
        return tokens.check(matcher.group("token"))
                .thenApply(owner -> owner.refusal() == null
                        ? new HttpLogin(HttpScheme.BEARER, owner.user(), owner.lifetimeMs(), null, null)
                        : HttpLogin.refused(HttpScheme.BEARER, null, owner.refusal()));
    }
}
