package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.ErrorCode;

/** The response to every request about access control: there is no authorizer, in the words that Kafka's tools know. */
final class NoAuthorizer {
    static final short ERROR_CODE = ErrorCode.SECURITY_DISABLED.code();
    static final String ERROR_MESSAGE = "No Authorizer is configured.";

    private NoAuthorizer() {}
}
