package io.journalq.server.security;

/**
 * The identity of a client. Quotas apply to it.
 *
 * @param type kind of the identity; this release has only {@link #USER}
 */
public record Principal(String type, String name) {
    /** The type of clients, as in Kafka. */
    public static final String USER = "User";

    /** A client that has not authenticated. */
    public static final Principal ANONYMOUS = user("ANONYMOUS");

    /** The user of that name. */
    public static Principal user(String name) {
        return new Principal(USER, name);
    }

    /** The form in which Kafka names principals: {@code User:name}. */
    @Override
    public String toString() {
        return type + ":" + name;
    }
}
