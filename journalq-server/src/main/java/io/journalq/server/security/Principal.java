package io.journalq.server.security;

/** The identity of a client. Quotas apply to it. */
public record Principal(String name) {
    /** A client that has not authenticated. */
    public static final Principal ANONYMOUS = new Principal("ANONYMOUS");
}
