package io.journalq.server.group.consumer;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.server.group.consumer.MemberRules.RequestError;
import io.journalq.server.group.consumer.assignor.Assignor;
import java.util.stream.Collectors;

/** Validates a heartbeat independently of its group. Pure functions. */
final class HeartbeatRules {
    private static final short FIRST_VERSION_WITH_CLIENT_MADE_IDS = 1;

    private HeartbeatRules() {}

    /** Why the request is invalid; null if it is valid. */
    static RequestError problem(ConsumerGroupHeartbeatRequest request, short version, ConsumerGroupLimits limits) {
        String malformed = malformed(request, version);
        if (malformed != null) {
            return new RequestError(ErrorCode.INVALID_REQUEST, malformed);
        }
        if (request.serverAssignor() != null && limits.assignor(request.serverAssignor()) == null) {
            String known =
                    limits.assignors().stream().map(Assignor::assignorName).collect(Collectors.joining(", "));
            return new RequestError(
                    ErrorCode.UNSUPPORTED_ASSIGNOR,
                    "ServerAssignor " + request.serverAssignor() + " is not supported. Supported assignors: " + known
                            + ".");
        }
        return patternProblem(request.subscribedTopicRegex());
    }

    private static RequestError patternProblem(String pattern) {
        if (pattern == null || pattern.isEmpty()) {
            return null;
        }
        try {
            SubscriptionPattern.compile(pattern);
            return null;
        } catch (IllegalArgumentException e) {
            return new RequestError(
                    ErrorCode.INVALID_REGULAR_EXPRESSION,
                    "SubscribedTopicRegex `" + pattern + "` is not a valid regular expression: " + e.getMessage()
                            + ".");
        }
    }

    private static String malformed(ConsumerGroupHeartbeatRequest request, short version) {
        if (request.groupId().isBlank()) {
            return "GroupId can't be empty.";
        }
        if (isEmpty(request.instanceId())) {
            return "InstanceId can't be empty.";
        }
        if (isEmpty(request.rackId())) {
            return "RackId can't be empty.";
        }
        if (request.memberId().isBlank()
                && (version >= FIRST_VERSION_WITH_CLIENT_MADE_IDS || request.memberEpoch() != 0)) {
            return "MemberId can't be empty.";
        }
        if (request.memberEpoch() < CurrentAssignment.STATIC_LEFT_EPOCH) {
            return "MemberEpoch is invalid.";
        }
        if (request.memberEpoch() == CurrentAssignment.STATIC_LEFT_EPOCH && request.instanceId() == null) {
            return "InstanceId can't be null.";
        }
        return request.memberEpoch() == 0 ? malformedJoin(request) : null;
    }

    private static String malformedJoin(ConsumerGroupHeartbeatRequest request) {
        if (request.rebalanceTimeoutMs() < 0) {
            return "RebalanceTimeoutMs must be provided in first request.";
        }
        if (request.topicPartitions() == null || !request.topicPartitions().isEmpty()) {
            return "TopicPartitions must be empty when (re-)joining.";
        }
        if (request.subscribedTopicNames() == null && request.subscribedTopicRegex() == null) {
            return "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.";
        }
        return null;
    }

    private static boolean isEmpty(String text) {
        return text != null && text.isBlank();
    }
}
