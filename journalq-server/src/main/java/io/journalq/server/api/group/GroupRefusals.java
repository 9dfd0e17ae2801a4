package io.journalq.server.api.group;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.RequestContext;
import io.journalq.server.coordinator.BoundedPattern;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.loop.Limit;
import java.util.List;

/** Tells of what is refused to groups and their members because it goes beyond a limit. Any thread. */
public final class GroupRefusals {
    private static final String KIND = "group";

    private final RefusalLog log;

    public GroupRefusals(RefusalLog log) {
        this.log = log;
    }

    /** A group's answer holds {@code error}: tells if that is for a limit. */
    public void tell(RequestContext context, String groupId, ErrorCode error) {
        Limit limit =
                switch (error) {
                    case GROUP_MAX_SIZE_REACHED -> Limit.GROUPS;
                    case OFFSET_METADATA_TOO_LARGE -> Limit.OFFSET_METADATA;
                    case INVALID_GROUP_ID ->
                        groupId.length() > GroupMachine.MAX_GROUP_ID_LENGTH ? Limit.GROUP_ID : null;
                    default -> null;
                };
        if (limit != null) {
            log.beyond(context, limit, KIND, groupId, error);
        }
    }

    /** The same for an answer of several parts: each limit is told of once. */
    public void tell(RequestContext context, String groupId, List<ErrorCode> errors) {
        errors.stream().distinct().forEach(error -> tell(context, groupId, error));
    }

    /** The same for an answer to who sent a pattern of topics; null when there was none. */
    void tell(RequestContext context, String groupId, String pattern, ErrorCode error) {
        boolean tooLarge = error == ErrorCode.INVALID_REGULAR_EXPRESSION && BoundedPattern.isTooLarge(pattern);
        if (tooLarge) {
            log.beyond(context, Limit.PATTERN, KIND, groupId, error);
        } else {
            tell(context, groupId, error);
        }
    }

    /** What a request beyond {@link MemberLimits} is answered with. */
    ErrorCode memberTooLarge(RequestContext context, String groupId) {
        log.beyond(context, Limit.GROUP_MEMBER, KIND, groupId, ErrorCode.INVALID_REQUEST);
        return ErrorCode.INVALID_REQUEST;
    }
}
