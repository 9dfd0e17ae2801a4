package io.journalq.server.api.group;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.RequestContext;
import io.journalq.server.coordinator.BoundedPattern;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.loop.Limit;
import java.util.List;

/** Logs and counts requests of groups and their members that exceed a limit. Any thread. */
public final class GroupRefusals {
    private static final String KIND = "group";

    private final RefusalLog log;

    public GroupRefusals(RefusalLog log) {
        this.log = log;
    }

    /** A response to a group has {@code error}. Logs it if a limit is the cause. */
    public void report(RequestContext context, String groupId, ErrorCode error) {
        Limit limit =
                switch (error) {
                    case GROUP_MAX_SIZE_REACHED -> Limit.GROUPS;
                    case OFFSET_METADATA_TOO_LARGE -> Limit.OFFSET_METADATA;
                    case INVALID_GROUP_ID ->
                        groupId.length() > GroupMachine.MAX_GROUP_ID_LENGTH ? Limit.GROUP_ID : null;
                    default -> null;
                };
        if (limit != null) {
            log.limitExceeded(context, limit, KIND, groupId, error);
        }
    }

    /** The same for a response with several parts. Each error is logged once. */
    public void report(RequestContext context, String groupId, List<ErrorCode> errors) {
        errors.stream().distinct().forEach(error -> report(context, groupId, error));
    }

    /** The same for a response to a request with a topic pattern; null if there was none. */
    void report(RequestContext context, String groupId, String pattern, ErrorCode error) {
        boolean tooLarge = error == ErrorCode.INVALID_REGULAR_EXPRESSION && BoundedPattern.isTooLarge(pattern);
        if (tooLarge) {
            log.limitExceeded(context, Limit.PATTERN, KIND, groupId, error);
        } else {
            report(context, groupId, error);
        }
    }

    /** The error of a request that exceeds {@link MemberLimits}, which is logged. */
    ErrorCode memberTooLarge(RequestContext context, String groupId) {
        log.limitExceeded(context, Limit.GROUP_MEMBER, KIND, groupId, ErrorCode.INVALID_REQUEST);
        return ErrorCode.INVALID_REQUEST;
    }
}
