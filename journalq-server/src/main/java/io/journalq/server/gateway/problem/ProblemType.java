package io.journalq.server.gateway.problem;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Locale;

/** The kinds of problems, each with its status. The type of a problem document is {@code urn:journalq:problem:name}. */
public enum ProblemType {
    MALFORMED_REQUEST(HttpResponseStatus.BAD_REQUEST, "The request is not valid HTTP"),
    INVALID_PARAMETER(HttpResponseStatus.BAD_REQUEST, "A parameter or header is invalid"),
    INVALID_BODY(HttpResponseStatus.BAD_REQUEST, "The body is invalid"),
    UNAUTHENTICATED(HttpResponseStatus.UNAUTHORIZED, "The request needs the password of a user"),
    NO_IDENTITY(HttpResponseStatus.FORBIDDEN, "The client has no identity"),
    NOT_ALLOWED(HttpResponseStatus.FORBIDDEN, "The client does not have the right"),
    FOREIGN_ORIGIN(HttpResponseStatus.FORBIDDEN, "The page is from another origin"),
    NO_SUCH_RESOURCE(HttpResponseStatus.NOT_FOUND, "There is no such resource"),
    UNKNOWN_TOPIC(HttpResponseStatus.NOT_FOUND, "There is no such topic"),
    UNKNOWN_PARTITION(HttpResponseStatus.NOT_FOUND, "There is no such partition"),
    UNKNOWN_GROUP(HttpResponseStatus.NOT_FOUND, "There is no such group"),
    UNKNOWN_CONSUMER(HttpResponseStatus.NOT_FOUND, "There is no such consumer instance"),
    METHOD_NOT_ALLOWED(HttpResponseStatus.METHOD_NOT_ALLOWED, "The resource does not support this method"),
    NOT_ACCEPTABLE(HttpResponseStatus.NOT_ACCEPTABLE, "The response has another type"),
    WRONG_FORMAT(HttpResponseStatus.NOT_ACCEPTABLE, "The consumer instance has another format"),
    SLOW_REQUEST(HttpResponseStatus.REQUEST_TIMEOUT, "The request arrives too slowly"),
    CONSUMER_EXISTS(HttpResponseStatus.CONFLICT, "There is a consumer instance of this name"),
    CONFLICT(HttpResponseStatus.CONFLICT, "The state of the resource does not permit this"),
    LENGTH_REQUIRED(HttpResponseStatus.LENGTH_REQUIRED, "The request needs a Content-Length"),
    BODY_TOO_LARGE(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE, "The body is too large"),
    RECORD_TOO_LARGE(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE, "A record is too large"),
    TARGET_TOO_LONG(HttpResponseStatus.REQUEST_URI_TOO_LONG, "The request line is too long"),
    UNSUPPORTED_MEDIA_TYPE(HttpResponseStatus.UNSUPPORTED_MEDIA_TYPE, "The type of the body is not accepted"),
    OFFSET_OUT_OF_RANGE(HttpResponseStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "The offset is not in the log"),
    EXPECTATION_FAILED(HttpResponseStatus.EXPECTATION_FAILED, "The expectation is not supported"),
    UPGRADE_REQUIRED(HttpResponseStatus.UPGRADE_REQUIRED, "The resource needs a WebSocket"),
    WRONG_HOST(HttpResponseStatus.MISDIRECTED_REQUEST, "The Host header is not a name of this listener"),
    QUOTA_EXCEEDED(HttpResponseStatus.TOO_MANY_REQUESTS, "The client has used up its quota"),
    HEAD_TOO_LARGE(HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The headers are too large"),
    RECORDS_REFUSED(HttpResponseStatus.UNPROCESSABLE_ENTITY, "The broker refused records"),
    UNREADABLE_RECORD(HttpResponseStatus.UNPROCESSABLE_ENTITY, "A record does not have the format of the consumer"),
    CHANGE_REFUSED(HttpResponseStatus.UNPROCESSABLE_ENTITY, "The broker refused the change"),
    INTERNAL_ERROR(HttpResponseStatus.INTERNAL_SERVER_ERROR, "The broker failed"),
    UNAVAILABLE(HttpResponseStatus.SERVICE_UNAVAILABLE, "The broker cannot serve this now"),
    TIMED_OUT(HttpResponseStatus.GATEWAY_TIMEOUT, "The records were not acknowledged in time");

    private final int statusCode;
    private final String title;
    private final String label = name().toLowerCase(Locale.ROOT).replace('_', '-');

    ProblemType(HttpResponseStatus status, String title) {
        this.statusCode = status.code();
        this.title = title;
    }

    public HttpResponseStatus status() {
        return HttpResponseStatus.valueOf(statusCode);
    }

    public String title() {
        return title;
    }

    /** The name in URNs and metrics. */
    public String label() {
        return label;
    }
}
