package io.journalq.client.error;

import io.journalq.common.protocol.ErrorCode;

/** A serializer could not convert an object, or a deserializer could not convert the bytes of a record. */
public final class SerializationException extends JournalQException {
    public SerializationException(String message, Throwable cause) {
        super(message, ErrorCode.INVALID_RECORD, false, cause);
    }
}
