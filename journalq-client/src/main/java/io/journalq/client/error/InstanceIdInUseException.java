package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** Another member of the group has this consumer's fixed name ({@code groupInstanceId}). */
public final class InstanceIdInUseException extends JournalQException {
    public InstanceIdInUseException(String message, ErrorCode errorCode) {
        super(message, errorCode, errorCode == ErrorCode.UNRELEASED_INSTANCE_ID, null);
    }
}
