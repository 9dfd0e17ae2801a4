package io.journalq.server.control;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.metadata.TopicImage;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;

/**
 * The result of one operation. Immutable.
 *
 * @param error {@link ErrorCode#NONE} for success
 * @param reason description of the error; null without an error
 * @param topicId the topic of the operation, if it is known
 * @param validated the topic that a validated operation would create; null for all other operations
 */
public record Outcome(ErrorCode error, String reason, Uuid topicId, TopicImage validated) {
    /** The controller rejected the operation; a retry may succeed later or on another node. */
    public static final Outcome NOT_TAKEN = new Outcome(
            ErrorCode.NOT_CONTROLLER, "the controller accepts no operations now: it is stopping or overloaded", null);

    /** The operation continues, but did not complete within the time that its client gave it. */
    public static final Outcome TIMED_OUT = new Outcome(
            ErrorCode.REQUEST_TIMED_OUT,
            "not completed within the timeout of the request; the operation continues",
            null);

    /** The outcome of an operation that was not only validated, or was refused. */
    public Outcome(ErrorCode error, String reason, Uuid topicId) {
        this(error, reason, topicId, null);
    }

    /** The outcome of an operation whose future failed. */
    public static Outcome of(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        if (cause instanceof NotControllerException moved) {
            return new Outcome(ErrorCode.NOT_CONTROLLER, moved.getMessage(), null);
        }
        return cause instanceof TimeoutException ? TIMED_OUT : NOT_TAKEN;
    }
}
