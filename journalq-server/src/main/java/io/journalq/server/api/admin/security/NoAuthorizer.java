package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.ErrorCode;

/**
 * The error of every request about access control, with Kafka's code and message for a cluster without an authorizer.
 */
final class NoAuthorizer {
    static final short ERROR_CODE = ErrorCode.SECURITY_DISABLED.code();
    static final String ERROR_MESSAGE = "No Authorizer is configured.";

    private NoAuthorizer() {}
}
