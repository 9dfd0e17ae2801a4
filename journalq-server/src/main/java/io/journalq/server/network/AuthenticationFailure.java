package io.journalq.server.network;

/**
 * Why a client of a listener that requires authentication was disconnected. The texts are fixed: what a client sends,
 * perhaps its password in the field of its name, appears neither in the log nor in a metric.
 */
public enum AuthenticationFailure {
    /** The user does not exist, or the password or its proof is wrong. */
    CREDENTIALS("credentials", true, "the user does not exist, or the password is wrong"),
    /** A mechanism that the listener does not offer, a message out of order or not of the mechanism. */
    PROTOCOL("protocol", true, "the client offers no mechanism of the listener, or its messages are not those of SASL"),
    /** The client took too long. */
    TIMEOUT("timeout", false, "no authentication within the time limit"),
    /** Too many clients were connected without authentication. */
    OVERLOAD(
            "overload", false, "too many connections without authentication, or too many passwords wait to be checked"),
    /** Too many clients of the address were connected without authentication. */
    ADDRESS(
            "address",
            false,
            "too many connections of this address without authentication; open fewer at the same time, or raise"
                    + " max.unauthenticated.connections.per.ip"),
    /** Too many logins of the address have failed. */
    LOCKED_OUT(
            "locked_out",
            false,
            "too many failed logins of this address; correct the password and wait a minute, or raise"
                    + " max.authentication.failures.per.ip"),
    /** The session has ended, and the client has not authenticated again. */
    EXPIRED(
            "expired",
            false,
            "the session has ended, and the client has not authenticated again (connections.max.reauth.ms)");

    private final String label;
    private final boolean responding;
    private final String reason;

    AuthenticationFailure(String label, boolean responding, String reason) {
        this.label = label;
        this.responding = responding;
        this.reason = reason;
    }

    /** The value of the label {@code reason} in the metrics. */
    public String label() {
        return label;
    }

    /** Whether the client gets a response before it is disconnected. */
    boolean isResponding() {
        return responding;
    }

    /** The reason in a log line. */
    public String reason() {
        return reason;
    }
}
