package io.journalq.server.gateway.confluent;

import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.gateway.http.ErrorForm;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import java.io.IOException;

/**
 * Errors in the form of Confluent's REST proxy: {@code {"error_code": 40401, "message": "..."}}. The code is the HTTP status,
 * or the status times 100 and a number. Immutable, any thread.
 *
 * @param type the media type of the document
 */
record ConfluentErrors(String type) implements ErrorForm {
    /** The remedy of a request that is not valid. */
    static final String EXAMPLES = "see docs/guides/http-confluent.md for examples";

    private static final int TOPIC_NOT_FOUND = 40_401;
    private static final int PARTITION_NOT_FOUND = 40_402;
    private static final int CONSUMER_NOT_FOUND = 40_403;
    private static final int FORMAT_MISMATCH = 40_601;
    private static final int CONSUMER_EXISTS = 40_902;
    private static final int ILLEGAL_STATE = 40_903;
    private static final int INVALID_SETTINGS = 42_204;
    private static final int UNAUTHENTICATED = 40_101;
    private static final int NOT_AUTHORIZED = 40_301;
    private static final int KAFKA_ERROR = 50_002;
    private static final int RETRIABLE_KAFKA_ERROR = 50_003;

    @Override
    public void write(JsonGenerator json, Problem problem) throws IOException {
        json.writeNumberField("error_code", code(problem.type()));
        json.writeStringField("message", message(problem));
    }

    static String message(Problem problem) {
        return problem.type().title() + ": " + problem.detail() + " (" + problem.remedy() + ")";
    }

    /** The code of a problem. */
    static int code(ProblemType type) {
        return switch (type) {
            case UNKNOWN_TOPIC -> TOPIC_NOT_FOUND;
            case UNKNOWN_PARTITION -> PARTITION_NOT_FOUND;
            case UNKNOWN_CONSUMER -> CONSUMER_NOT_FOUND;
            case WRONG_FORMAT -> FORMAT_MISMATCH;
            case CONSUMER_EXISTS -> CONSUMER_EXISTS;
            case CONFLICT -> ILLEGAL_STATE;
            case CHANGE_REFUSED -> INVALID_SETTINGS;
            case UNAUTHENTICATED -> UNAUTHENTICATED;
            case NOT_ALLOWED, NO_IDENTITY -> NOT_AUTHORIZED;
            case RECORDS_REFUSED, UNREADABLE_RECORD, INTERNAL_ERROR -> KAFKA_ERROR;
            case UNAVAILABLE, TIMED_OUT -> RETRIABLE_KAFKA_ERROR;
            default -> type.status().code();
        };
    }

    /** The code of a record that the broker has refused, in the API v3. */
    static int code(ErrorCode error) {
        return switch (error) {
            case UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID -> TOPIC_NOT_FOUND;
            case TOPIC_AUTHORIZATION_FAILED -> NOT_AUTHORIZED;
            case SASL_AUTHENTICATION_FAILED -> UNAUTHENTICATED;
            default -> error.retriable() ? RETRIABLE_KAFKA_ERROR : KAFKA_ERROR;
        };
    }
}
