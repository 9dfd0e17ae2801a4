package io.journalq.server.api.security;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.SaslHandshakeRequest;
import io.journalq.common.protocol.message.SaslHandshakeResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.Login;
import io.journalq.server.api.RequestContext;

/**
 * SaslHandshake, version 1: the client chooses a mechanism (KIP-43, KIP-152). On a listener without SASL, and in the
 * middle of an exchange, the response is ILLEGAL_SASL_STATE. Version 0, after which tokens have no header, is not
 * served.
 */
public final class SaslHandshakeHandler implements Handler<SaslHandshakeRequest> {
    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.SASL_HANDSHAKE, 1, 1, AccessRule.open("it begins the login"));
    }

    @Override
    public void handle(RequestContext context, SaslHandshakeRequest request) {
        SaslHandshakeResponse response = new SaslHandshakeResponse();
        Login login = context.login();
        if (login == null) {
            context.respond(response.setErrorCode(ErrorCode.ILLEGAL_SASL_STATE.code()));
            return;
        }
        ErrorCode error = login.choose(request.mechanism());
        response.setErrorCode(error.code()).setMechanisms(login.mechanisms());
        if (error == ErrorCode.NONE) {
            context.respond(response);
        } else {
            login.refused(
                    api().asker(context),
                    null,
                    request.mechanism(),
                    error == ErrorCode.UNSUPPORTED_SASL_MECHANISM
                            ? "the listener does not offer the mechanism"
                            : "a login has begun, or another is not due");
            login.fail(context, response, false);
        }
    }
}
