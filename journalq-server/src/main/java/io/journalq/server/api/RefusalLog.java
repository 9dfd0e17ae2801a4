package io.journalq.server.api;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.loop.Limit;
import io.journalq.server.loop.LogThrottle;
import io.journalq.server.memory.StatePart;
import java.util.EnumSet;
import java.util.Set;
import org.slf4j.LoggerFactory;

/**
 * Lines about input that no client of ours would send and that is refused with an error: the client may hide the error from
 * its user, the broker's log does not. Any thread.
 */
public final class RefusalLog {
    /** What can only come of bytes that are wrong, and not of a client that is late or unlucky. */
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
     * Something in a request is refused; a line if that is for what it is.
     *
     * @param reason in words; null when the code says it all
     */
    public void refused(RequestContext context, String topic, ErrorCode error, String reason) {
        if (BAD_INPUT.contains(error)) {
            warn(context, "topic", topic, error + (reason == null ? "" : ", " + reason));
        }
    }

    /**
     * Something in a request is refused as it goes beyond a limit: counted, and a line.
     *
     * @param kind of what is named {@code name}
     */
    public void beyond(RequestContext context, Limit limit, String kind, String name, ErrorCode error) {
        context.cycle().counters().onLimit(limit);
        warn(context, kind, name, error + " (" + limit.label() + ")");
    }

    /** Something is refused as there is no memory left for it: a line. The part of the budget has counted it. */
    public void full(RequestContext context, String kind, String name, ErrorCode error, StatePart part) {
        warn(context, kind, name, error + " (" + part.setting() + ")");
    }

    private void warn(RequestContext context, String kind, String name, String why) {
        String shown = name.length() <= MAX_NAME_LENGTH ? name : name.substring(0, MAX_NAME_LENGTH) + "...";
        throttle.warn("request refused", context.remoteAddress(), kind + " " + shown + ": " + why);
    }
}
