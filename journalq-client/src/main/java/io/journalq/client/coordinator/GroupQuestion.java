package io.journalq.client.coordinator;

import io.journalq.client.JournalQException;
import io.journalq.client.error.GroupNotEmptyException;
import io.journalq.client.error.UnknownGroupException;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import java.util.List;
import java.util.function.Function;

/**
 * What an administrator asks about a group. Takes the error of anything in the answer for the answer's, and reads the
 * answer on the event loop, as long as its bytes are valid.
 *
 * @param <R> the answer
 * @param <V> what is read from it
 */
final class GroupQuestion<R extends ApiMessage, V> extends Question<R> {
    private final String subject;
    private final Function<Short, ApiMessage> request;
    private final Function<R, List<Short>> errors;
    private final Function<R, V> reader;
    private V value;

    /**
     * A question.
     *
     * @param errors every error code in an answer
     * @param reader called for an answer without errors
     */
    GroupQuestion(
            ApiKey apiKey,
            Class<R> answerType,
            int newestVersion,
            String subject,
            Function<Short, ApiMessage> request,
            Function<R, List<Short>> errors,
            Function<R, V> reader) {
        super(apiKey, answerType, newestVersion, subject);
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
    protected ErrorCode errorOf(R answer) {
        for (short code : errors.apply(answer)) {
            if (code != ErrorCode.NONE.code()) {
                return ErrorCode.of(code);
            }
        }
        value = reader.apply(answer);
        return ErrorCode.NONE;
    }

    /** The topic may be gone for good, and a person waits. */
    @Override
    protected boolean isRetriable(ErrorCode error) {
        return error.retriable() && error != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION;
    }

    @Override
    protected JournalQException failure(ErrorCode error) {
        return switch (error) {
            // A commit from outside of the group is told that it is no member.
            case NON_EMPTY_GROUP, GROUP_SUBSCRIBED_TO_TOPIC, UNKNOWN_MEMBER_ID ->
                new GroupNotEmptyException(subject
                        + ": the group has members; stop its consumers, wait until their session time-out is over if"
                        + " they died, then try again");
            case GROUP_ID_NOT_FOUND ->
                new UnknownGroupException(subject + ": there is no such group; check its name among those listed");
            default -> super.failure(error);
        };
    }

    /** What was read; once the question's future is complete. */
    V value() {
        return value;
    }
}
