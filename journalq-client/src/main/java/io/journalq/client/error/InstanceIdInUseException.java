package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** Another member of the group uses the {@code groupInstanceId} of this consumer. */
public final class InstanceIdInUseException extends JournalQException {
    public InstanceIdInUseException(String message, ErrorCode errorCode) {
        super(message, errorCode, errorCode == ErrorCode.UNRELEASED_INSTANCE_ID, null);
    }
}
