package io.journalq.server.security.sasl;

/** The response to a message of a client. */
public sealed interface SaslStep {
    /** The client has to send another message. */
    @SuppressWarnings("ArrayRecordComponent") // steps are not compared
    record Challenge(byte[] message) implements SaslStep {}

    /**
     * The client is this user.
     *
     * @param maxLifetimeMs after which the client must log in again; 0 if nothing but the settings limits that
     */
    @SuppressWarnings("ArrayRecordComponent") // steps are not compared
    record Success(byte[] message, String user, long maxLifetimeMs) implements SaslStep {
        Success(byte[] message, String user) {
            this(message, user, 0);
        }
    }

    /**
     * The exchange has failed.
     *
     * @param wellFormed whether the message was one of the mechanism, so that only the user or the password is wrong
     */
    record Failure(boolean wellFormed) implements SaslStep {}
}
