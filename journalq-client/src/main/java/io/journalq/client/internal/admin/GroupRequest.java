package io.journalq.client.internal.admin;

import io.journalq.client.error.GroupNotEmptyException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.UnknownGroupException;
import io.journalq.client.internal.coordinator.CoordinatorRequest;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import java.util.List;
import java.util.function.Function;

/**
 * A request of the admin about one group. An error of any part of the response is an error of the request. The response
 * is read on the event loop, while its bytes are valid.
 *
 * @param <R> the type of the response
 * @param <V> the type of the result
 */
final class GroupRequest<R extends ApiMessage, V> extends CoordinatorRequest<R> {
    private final String subject;
    private final Function<Short, ApiMessage> request;
    private final Function<R, List<Short>> errors;
    private final Function<R, V> reader;
    private V value;

    /**
     * Creates a request.
     *
     * @param errors extracts all error codes of a response
     * @param reader reads the result from a response without errors
     */
    GroupRequest(
            ApiKey apiKey,
            Class<R> responseType,
            int newestVersion,
            String subject,
            Function<Short, ApiMessage> request,
            Function<R, List<Short>> errors,
            Function<R, V> reader) {
        super(apiKey, responseType, newestVersion, subject);
        this.subject = subject;
        this.request = request;
        this.errors = errors;
        this.reader = reader;
    }

    @Override
    protected ApiMessage request(short version) {
        return request.apply(version);
    }

    @Override
    protected ErrorCode errorOf(R response) {
        for (short code : errors.apply(response)) {
            if (code != ErrorCode.NONE.code()) {
                return ErrorCode.of(code);
            }
        }
        value = reader.apply(response);
        return ErrorCode.NONE;
    }

    /** The topic may have been deleted, and the caller should not wait for it. */
    @Override
    protected boolean isRetriable(ErrorCode error) {
        return error.retriable() && error != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION;
    }

    @Override
    protected JournalQException failure(ErrorCode error) {
        return switch (error) {
            // The coordinator rejects a commit from outside the group because its sender is not a member.
            case NON_EMPTY_GROUP, GROUP_SUBSCRIBED_TO_TOPIC, UNKNOWN_MEMBER_ID ->
                new GroupNotEmptyException(subject
                        + ": the group has members; stop its consumers, wait for the session timeout if"
                        + " they have died, then try again");
            case GROUP_ID_NOT_FOUND ->
                new UnknownGroupException(subject + ": the group does not exist; check its id in the list of groups");
            default -> super.failure(error);
        };
    }

    /** Returns the result, once the future of the request is complete. */
    V value() {
        return value;
    }
}
