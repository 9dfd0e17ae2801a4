package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/**
 * A login failed in a way that another attempt does not change: the user does not exist, the password is wrong, the
 * listener does not offer the mechanism, or the broker has not proven that it knows the user.
 */
public final class AuthenticationFailedException extends JournalQException {
    public AuthenticationFailedException(String message) {
        super(message, ErrorCode.SASL_AUTHENTICATION_FAILED, false, null);
    }
}
