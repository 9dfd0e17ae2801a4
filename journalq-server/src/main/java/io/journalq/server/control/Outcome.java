package io.journalq.server.control;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;

/**
 * What became of an operation on one thing. Immutable.
 *
 * @param error {@link ErrorCode#NONE} when it was done
 * @param reason in words; null without an error
 * @param topicId the topic that it was done to, where that is known
 */
public record Outcome(ErrorCode error, String reason, Uuid topicId) {
    /** Of an operation that the controller did not take; the same may succeed later, maybe elsewhere. */
    public static final Outcome NOT_TAKEN = new Outcome(
            ErrorCode.NOT_CONTROLLER, "the controller takes no operations now: it is stopping, or has too many", null);
}
