package io.journalq.server.security.sasl;

/** A scheme of the header {@code Authorization} of HTTP. */
public enum HttpScheme {
    /** A user and a password (RFC 7617). */
    BASIC(
            "Basic",
            "Basic realm=\"journalq\", charset=\"UTF-8\"",
            "the user or the password is missing or wrong",
            "a user and its password as HTTP Basic"),
    /** A token (RFC 6750). */
    BEARER(
            "Bearer",
            "Bearer realm=\"journalq\"",
            "the token is missing or invalid, or has expired",
            "a token as Bearer");

    private static final String INVALID_TOKEN = ", error=\"invalid_token\"";

    private final String label;
    private final String challenge;
    private final String problem;
    private final String credentials;

    HttpScheme(String label, String challenge, String problem, String credentials) {
        this.label = label;
        this.challenge = challenge;
        this.problem = problem;
        this.credentials = credentials;
    }

    /** The scheme of a header; null if it has another. */
    public static HttpScheme of(String authorization) {
        for (HttpScheme scheme : values()) {
            int length = scheme.label.length();
            if (authorization.regionMatches(true, 0, scheme.label, 0, length)
                    && authorization.startsWith(" ", length)) {
                return scheme;
            }
        }
        return null;
    }

    /** The name in the audit log. */
    String mechanism() {
        return "HTTP " + label;
    }

    /**
     * The scheme in the header {@code WWW-Authenticate} of a refusal.
     *
     * @param refused whether the client has sent credentials of this scheme
     */
    public String challenge(boolean refused) {
        return refused && this == BEARER ? challenge + INVALID_TOKEN : challenge;
    }

    /** What a client without an accepted login of this scheme is told. */
    public String problem() {
        return problem;
    }

    /** What a client has to send. */
    public String credentials() {
        return credentials;
    }
}
