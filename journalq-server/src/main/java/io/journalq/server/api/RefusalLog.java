package io.journalq.server.api;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.loop.Limit;
import io.journalq.server.loop.LogThrottle;
import io.journalq.server.memory.StatePart;
import java.util.EnumSet;
import java.util.Set;
import org.slf4j.LoggerFactory;

/**
 * Logs refused input that a correct client would not send. The client may hide the error from its user, so the broker
 * logs it. Any thread.
 */
public final class RefusalLog {
    /** Errors that can only result from invalid bytes, and not from a slow client or a race. */
    private static final Set<ErrorCode> BAD_INPUT = EnumSet.of(
            ErrorCode.CORRUPT_MESSAGE,
            ErrorCode.MESSAGE_TOO_LARGE,
            ErrorCode.INVALID_RECORD,
            ErrorCode.INVALID_TIMESTAMP,
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            ErrorCode.INVALID_REQUIRED_ACKS,
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE);

    private static final int MAX_NAME_LENGTH = 64;

    private final LogThrottle throttle = new LogThrottle(LoggerFactory.getLogger(RefusalLog.class));

    /**
     * A part of a request is refused. Logs a line if the error is in {@link #BAD_INPUT}.
     *
     * @param reason in words; null when the error code is sufficient
     */
    public void refused(RequestContext context, String topic, ErrorCode error, String reason) {
        if (BAD_INPUT.contains(error)) {
            warn(context, "topic", topic, error + (reason == null ? "" : ", " + reason));
        }
    }

    /**
     * A part of a request is refused because it exceeds a limit. Counts it and logs a line.
     *
     * @param kind the kind of thing that {@code name} names
     */
    public void limitExceeded(RequestContext context, Limit limit, String kind, String name, ErrorCode error) {
        context.cycle().counters().onLimit(limit);
        warn(context, kind, name, error + " (" + limit.label() + ")");
    }

    /**
     * A part of a request is refused because a part of the memory budget is full. Logs a line; the budget has counted
     * it.
     */
    public void budgetExceeded(RequestContext context, String kind, String name, ErrorCode error, StatePart part) {
        warn(context, kind, name, error + " (" + part.setting() + ")");
    }

    private void warn(RequestContext context, String kind, String name, String why) {
        String shown = name.length() <= MAX_NAME_LENGTH ? name : name.substring(0, MAX_NAME_LENGTH) + "...";
        throttle.warn("request refused", context.remoteAddress(), kind + " " + shown + ": " + why);
    }
}
