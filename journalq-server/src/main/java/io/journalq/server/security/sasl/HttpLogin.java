package io.journalq.server.security.sasl;

/**
 * The result of a login by the header {@code Authorization} of HTTP. Immutable.
 *
 * @param scheme by which the client wanted to log in; null if it has chosen none that is accepted
 * @param user the user that the client claims to be; null if it has named none
 * @param lifetimeMs after which the credentials expire; 0 if they do not
 * @param refusal why the login was refused, for the audit log only; null if it was not
 * @param event the id of the refusal in the audit log; null if it is not there
 */
public record HttpLogin(HttpScheme scheme, String user, long lifetimeMs, String refusal, String event) {
    /** Of a client that has sent no credentials. That is not an event, because clients often begin without them. */
    public static final HttpLogin NONE = refused(null, null, "there are no credentials");

    static HttpLogin refused(HttpScheme scheme, String user, String reason) {
        return new HttpLogin(scheme, user, 0, reason, null);
    }

    /** Of a client whose scheme is not accepted. */
    public static HttpLogin otherScheme() {
        return refused(null, null, "the header Authorization has another scheme");
    }

    /** Whether the client is the user. */
    public boolean succeeded() {
        return refusal == null;
    }

    /** The name of the scheme in the audit log. */
    public String mechanism() {
        return scheme == null ? "HTTP" : scheme.mechanism();
    }

    /** The refusal, as the audit log has it. */
    public HttpLogin at(String auditEvent) {
        return new HttpLogin(scheme, user, lifetimeMs, refusal, auditEvent);
    }
}
