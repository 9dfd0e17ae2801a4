package io.journalq.server.security.token;

import java.net.URI;
import java.util.Set;

/**
 * Which tokens a broker accepts. Immutable.
 *
 * @param keys where the keys of the identity provider are: {@code https:} or {@code file:}
 * @param issuer the value of {@code iss}
 * @param audiences one of them must be in {@code aud}
 * @param userClaim the claim that names the user
 * @param clockSkewMs by how much the clocks of the provider and of this machine may differ
 */
public record TokenRules(URI keys, String issuer, Set<String> audiences, String userClaim, long clockSkewMs) {
    public TokenRules {
        audiences = Set.copyOf(audiences);
    }
}
