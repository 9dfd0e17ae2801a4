package io.journalq.server.gateway.problem;

import io.journalq.common.protocol.ErrorCode;

/** Errors of the Kafka protocol as problems. Stateless. */
public final class ProtocolErrors {
    private ProtocolErrors() {}

    /**
     * Ends the request if a handler has returned an error.
     *
     * @param message what the handler says about it; may be null
     * @param subject what the error is about, such as {@code topic orders}
     */
    public static void check(short code, String message, String subject) {
        ErrorCode error = ErrorCode.of(code);
        if (error != ErrorCode.NONE) {
            throw problem(error, message, subject).exception();
        }
    }

    /**
     * The problem that an error is.
     *
     * @param message what the handler says about it; may be null
     * @param subject what the error is about, such as {@code topic orders}
     */
    public static Problem problem(ErrorCode error, String message, String subject) {
        String detail = subject + ": " + (message == null || message.isEmpty() ? error.words() : message);
        return switch (error) {
            case TOPIC_AUTHORIZATION_FAILED,
                    GROUP_AUTHORIZATION_FAILED,
                    CLUSTER_AUTHORIZATION_FAILED,
                    TRANSACTIONAL_ID_AUTHORIZATION_FAILED ->
                Problem.denied(subject + ": " + (message == null ? "the client has no right to this" : message));
            case SECURITY_DISABLED ->
                new Problem(ProblemType.CONFLICT, detail, "set authorization.enabled=true and restart the broker");
            case UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID ->
                new Problem(ProblemType.UNKNOWN_TOPIC, detail, "check the name, or create the topic");
            case GROUP_ID_NOT_FOUND ->
                new Problem(ProblemType.UNKNOWN_GROUP, detail, "check the name; GET /v1/groups lists the groups");
            case TRANSACTIONAL_ID_NOT_FOUND ->
                new Problem(
                        ProblemType.NO_SUCH_RESOURCE, detail, "check the id; GET /v1/transactions lists transactions");
            case RESOURCE_NOT_FOUND -> new Problem(ProblemType.NO_SUCH_RESOURCE, detail, "check the name");
            case TOPIC_ALREADY_EXISTS, DUPLICATE_RESOURCE ->
                new Problem(ProblemType.CONFLICT, detail, "choose another name");
            case NON_EMPTY_GROUP, UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION, GROUP_SUBSCRIBED_TO_TOPIC ->
                new Problem(ProblemType.CONFLICT, detail, "stop the consumers of the group, then try again");
            case CONCURRENT_TRANSACTIONS, REASSIGNMENT_IN_PROGRESS, INVALID_TXN_STATE ->
                new Problem(ProblemType.CONFLICT, detail, "try again in a moment");
            case INVALID_TOPIC_EXCEPTION,
                    INVALID_PARTITIONS,
                    INVALID_REPLICATION_FACTOR,
                    INVALID_REPLICA_ASSIGNMENT,
                    INVALID_CONFIG,
                    INVALID_REQUEST,
                    INVALID_GROUP_ID,
                    INVALID_REGULAR_EXPRESSION,
                    POLICY_VIOLATION,
                    TOPIC_DELETION_DISABLED -> new Problem(ProblemType.CHANGE_REFUSED, detail, "correct the request");
            case UNSUPPORTED_VERSION ->
                new Problem(ProblemType.CHANGE_REFUSED, detail, "see docs/protocol-gaps.md for what is not served");
            case OFFSET_OUT_OF_RANGE ->
                new Problem(ProblemType.OFFSET_OUT_OF_RANGE, detail, "send an offset that exists");
            case NOT_LEADER_OR_FOLLOWER ->
                new Problem(ProblemType.UNAVAILABLE, detail, "try again in a moment: another broker will lead it");
            case NOT_COORDINATOR ->
                new Problem(
                        ProblemType.UNAVAILABLE, detail, "try again in a moment: another broker will coordinate it");
            default ->
                error.retriable()
                        ? new Problem(ProblemType.UNAVAILABLE, detail, "try again in a moment")
                        : new Problem(ProblemType.INTERNAL_ERROR, detail, "see the broker's log");
        };
    }
}
