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
     * @param user the user that the client claims to be; null if that is not known
     * @param reason for the audit log only; contains nothing that the client has sent
     */
    record Failure(boolean wellFormed, String user, String reason) implements SaslStep {
        /** The message was not one of the mechanism. */
        public static Failure malformed() {
            return new Failure(false, null, "a message is malformed or out of order");
        }
    }
}
