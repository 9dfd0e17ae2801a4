package io.journalq.client.internal.admin;

import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.network.Errors;
import io.journalq.common.protocol.ErrorCode;

/** Collects the errors of a response that reports on several resources. Not thread-safe. */
final class Failures {
    private JournalQException first;

    /**
     * Adds the error of one resource, unless {@code code} is {@link ErrorCode#NONE}.
     *
     * @param subject the resource, as the exception message names it
     * @param brokerMessage the message of the broker; may be null
     */
    void add(short code, String subject, String brokerMessage) {
        ErrorCode error = ErrorCode.of(code);
        if (error != ErrorCode.NONE) {
            JournalQException failure = Errors.of(error, subject, brokerMessage);
            if (first == null) {
                first = failure;
            } else {
                first.addSuppressed(failure);
            }
        }
    }

    /** Returns the first error, with the others suppressed in it, or null if there is none. */
    JournalQException first() {
        return first;
    }

    /** Throws the first error, with the others suppressed in it; does nothing if there is none. */
    void throwFirst() {
        if (first != null) {
            throw first;
        }
    }

    /** Throws if the broker is not the controller. It has then changed nothing, and the request can be retried. */
    static void throwIfNotController(short code) {
        if (code == ErrorCode.NOT_CONTROLLER.code()) {
            throw Errors.of(ErrorCode.NOT_CONTROLLER, "the request", null);
        }
    }
}
