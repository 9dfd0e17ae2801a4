package io.journalq.client.coordinator;

import io.journalq.client.JournalQException;
import io.journalq.client.error.Errors;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;

/**
 * Something to ask a coordinator, again and again until it answers or the time is over. Every method runs on the client's
 * event loop.
 *
 * @param <R> the answer
 */
public abstract class Question<R extends ApiMessage> {
    private final ApiKey apiKey;
    private final Class<R> answerType;
    private final short newestVersion;
    private final String subject;

    /**
     * A question.
     *
     * @param newestVersion newest version that the client makes use of
     * @param subject what it is about, for messages: "commit of group billing"
     */
    protected Question(ApiKey apiKey, Class<R> answerType, int newestVersion, String subject) {
        this.apiKey = apiKey;
        this.answerType = answerType;
        this.newestVersion = (short) Math.min(newestVersion, apiKey.highestVersion());
        this.subject = subject;
    }

    /** Builds the request, anew for every try. */
    protected abstract ApiMessage request(short version);

    /** The error that decides whether the question is asked again; {@link ErrorCode#NONE} when the answer is one. */
    protected abstract ErrorCode errorOf(R answer);

    /** Whether to ask again after an error. */
    protected boolean isRetriable(ErrorCode error) {
        return error.retriable();
    }

    /** What to throw for an error. */
    protected JournalQException failure(ErrorCode error) {
        return Errors.of(error, subject, null);
    }

    final ApiKey apiKey() {
        return apiKey;
    }

    final R cast(ApiMessage answer) {
        return answerType.cast(answer);
    }

    final short newestVersion() {
        return newestVersion;
    }

    @Override
    public final String toString() {
        return subject;
    }
}
