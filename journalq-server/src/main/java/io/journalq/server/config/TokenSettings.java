package io.journalq.server.config;

import java.net.URI;
import java.util.List;

/** The settings for logins with tokens (OAUTHBEARER). The names are Kafka's. No setting names a class. */
public final class TokenSettings {
    private static final int MAX_SKEW_SECONDS = 300;

    public static final ConfigKey<String> JWKS_ENDPOINT_URL = ConfigKey.ofText(
                    "sasl.oauthbearer.jwks.endpoint.url",
                    "",
                    "Where the public keys of the identity provider are (JWKS): an https: URL, whose certificate an "
                            + "authority of the Java runtime has signed, or a file: URL. Read each hour, and at most once "
                            + "a minute when a token names an unknown key. At most 1 MiB. Required for OAUTHBEARER.")
            .checkedBy(TokenSettings::readUrl);
    public static final ConfigKey<String> EXPECTED_ISSUER = ConfigKey.ofText(
            "sasl.oauthbearer.expected.issuer",
            "",
            "The issuer that tokens must name (iss). Required for OAUTHBEARER.");
    public static final ConfigKey<List<String>> EXPECTED_AUDIENCE = ConfigKey.ofList(
            "sasl.oauthbearer.expected.audience",
            List.of(),
            "Audiences. A token must name one of them (aud). Required for OAUTHBEARER.");
    public static final ConfigKey<String> SUB_CLAIM_NAME =
            ConfigKey.ofText("sasl.oauthbearer.sub.claim.name", "sub", "The claim of a token that names the user.");
    public static final ConfigKey<Integer> CLOCK_SKEW_SECONDS = ConfigKey.ofInt(
            "sasl.oauthbearer.clock.skew.seconds",
            ConfigUnit.NONE,
            30,
            0,
            MAX_SKEW_SECONDS,
            "By how many seconds the clocks of the identity provider and of this machine may differ.");

    /** These settings, in the order of {@code conf/journalq.yaml}. */
    static final List<ConfigKey<?>> ALL =
            List.of(JWKS_ENDPOINT_URL, EXPECTED_ISSUER, EXPECTED_AUDIENCE, SUB_CLAIM_NAME, CLOCK_SKEW_SECONDS);

    private TokenSettings() {}

    private static String readUrl(String text) throws ConfigException {
        String url = text.strip();
        if (url.isEmpty()) {
            return url;
        }
        try {
            URI uri = URI.create(url);
            boolean usable = "https".equals(uri.getScheme())
                    ? uri.getHost() != null && uri.getUserInfo() == null
                    : "file".equals(uri.getScheme()) && uri.getPath() != null && uri.getAuthority() == null;
            if (usable) {
                return url;
            }
        } catch (IllegalArgumentException malformed) {
            // handled below
        }
        throw new ConfigException("must be a URL of the form https://host/path or file:///path");
    }
}
