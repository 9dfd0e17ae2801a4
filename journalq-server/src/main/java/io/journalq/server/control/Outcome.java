package io.journalq.server.control;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import java.util.concurrent.TimeoutException;

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

    /** Of an operation that goes on, but not within the time that its client gave it. */
    public static final Outcome TIMED_OUT =
            new Outcome(ErrorCode.REQUEST_TIMED_OUT, "not done within the request's time; the work goes on", null);

    /** What a failure to wait for an operation means for each thing that it is about. */
    public static Outcome of(Throwable failure) {
        return failure instanceof TimeoutException ? TIMED_OUT : NOT_TAKEN;
    }
}
