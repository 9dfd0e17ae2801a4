package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.ErrorCode;

/** What every request about access control is answered with: there is none, in the words that Kafka's tools know. */
final class NoAuthorizer {
    static final short ERROR_CODE = ErrorCode.SECURITY_DISABLED.code();
    static final String ERROR_MESSAGE = "No Authorizer is configured.";

    private NoAuthorizer() {}
}
