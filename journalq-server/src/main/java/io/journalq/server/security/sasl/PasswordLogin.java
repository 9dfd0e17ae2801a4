package io.journalq.server.security.sasl;

/**
 * The result of a login by the header {@code Authorization} of HTTP. Immutable.
 *
 * @param user the user that the client claims to be; null if it has named none
 * @param refusal why the login was refused, for the audit log only; null if it was not
 * @param event the id of the refusal in the audit log; null if it is not there
 */
public record PasswordLogin(String user, String refusal, String event) {
    /** The name in the audit log. */
    public static final String MECHANISM = "HTTP Basic";

    /** Of a client that has sent no password. That is not an event, because clients often begin without one. */
    public static final PasswordLogin NONE = new PasswordLogin(null, "there is no password", null);

    /** Whether the client is the user. */
    public boolean succeeded() {
        return refusal == null;
    }

    /** The refusal, as the audit log has it. */
    public PasswordLogin at(String auditEvent) {
        return new PasswordLogin(user, refusal, auditEvent);
    }
}
