package io.journalq.client.internal.coordinator;

import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.network.Errors;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;

/**
 * A request to a coordinator, which {@link Coordinator#ask} retries. All methods are called on the event loop of the
 * client.
 *
 * @param <R> the type of the response
 */
public abstract class CoordinatorRequest<R extends ApiMessage> {
    private final ApiKey apiKey;
    private final Class<R> responseType;
    private final short newestVersion;
    private final String subject;

    /**
     * Creates a request.
     *
     * @param newestVersion the newest version that the client supports
     * @param subject the subject of error messages, such as "commit of group billing"
     */
    protected CoordinatorRequest(ApiKey apiKey, Class<R> responseType, int newestVersion, String subject) {
        this.apiKey = apiKey;
        this.responseType = responseType;
        this.newestVersion = (short) Math.min(newestVersion, apiKey.highestVersion());
        this.subject = subject;
    }

    /** Builds the request. Called for each attempt. */
    protected abstract ApiMessage request(short version);

    /** Returns the error that decides about a retry, or {@link ErrorCode#NONE}. */
    protected abstract ErrorCode errorOf(R response);

    /** Whether to retry after this error. */
    protected boolean isRetriable(ErrorCode error) {
        return error.retriable();
    }

    /** Returns the exception for an error. */
    protected JournalQException failure(ErrorCode error) {
        return Errors.of(error, subject, null);
    }

    final ApiKey apiKey() {
        return apiKey;
    }

    final R cast(ApiMessage response) {
        return responseType.cast(response);
    }

    final short newestVersion() {
        return newestVersion;
    }

    @Override
    public final String toString() {
        return subject;
    }
}
