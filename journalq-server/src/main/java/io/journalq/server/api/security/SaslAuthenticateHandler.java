package io.journalq.server.api.security;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.SaslAuthenticateRequest;
import io.journalq.common.protocol.message.SaslAuthenticateResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.Login;
import io.journalq.server.api.RequestContext;
import io.journalq.server.security.Authorizer.Denial;
import io.journalq.server.security.sasl.SaslStep;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;

/**
 * SaslAuthenticate, versions 0 to 2 (KIP-152, KIP-368): a message of the mechanism that the client has chosen. The
 * response to a wrong user and to a wrong password is the same, except for the id of the event in the audit log. It is
 * sent after 100 ms.
 */
public final class SaslAuthenticateHandler implements Handler<SaslAuthenticateRequest> {
    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.SASL_AUTHENTICATE, 0, 2, AccessRule.open("it is the login"));
    }

    @Override
    public void handle(RequestContext context, SaslAuthenticateRequest request) {
        Login login = context.login();
        if (login == null) {
            context.respond(outOfOrder("this listener requires no authentication by SASL"));
        } else if (!login.isExchanging()) {
            String event = login.refused(
                    api().asker(context), null, "(none)", "a login begins with the choice of a mechanism");
            String message = Denial.message("SaslAuthenticate without SaslHandshake", event);
            login.fail(context, outOfOrder(message), false);
        } else {
            login.next(context, ByteBufUtil.getBytes(request.authBytes()), step -> respond(context, login, step));
        }
    }

    private void respond(RequestContext context, Login login, SaslStep step) {
        if (step instanceof SaslStep.Challenge challenge) {
            context.respond(new SaslAuthenticateResponse()
                    .setErrorMessage(null)
                    .setAuthBytes(Unpooled.wrappedBuffer(challenge.message())));
        } else if (step instanceof SaslStep.Success success) {
            if (login.succeed(success.user(), success.maxLifetimeMs())) {
                context.respond(new SaslAuthenticateResponse()
                        .setErrorMessage(null)
                        .setAuthBytes(Unpooled.wrappedBuffer(success.message()))
                        .setSessionLifetimeMs(login.sessionLifetimeMs()));
            } else {
                // As a wrong password: otherwise the client could guess passwords of others. Connections that are
                // logged in are not closed when their address is locked out.
                refuse(context, login, success.user(), "the user of a connection cannot change", true);
            }
        } else if (step instanceof SaslStep.Failure failure) {
            refuse(context, login, failure.user(), failure.reason(), failure.wellFormed());
        }
    }

    private void refuse(RequestContext context, Login login, String user, String reason, boolean guess) {
        String message = "Authentication failed during authentication due to invalid credentials with SASL mechanism "
                + login.mechanism();
        String event = login.refused(api().asker(context), user, login.mechanism(), reason);
        login.fail(context, refusal(Denial.message(message, event)), guess);
    }

    private static SaslAuthenticateResponse outOfOrder(String message) {
        return new SaslAuthenticateResponse()
                .setErrorCode(ErrorCode.ILLEGAL_SASL_STATE.code())
                .setErrorMessage(message);
    }

    private static SaslAuthenticateResponse refusal(String message) {
        return new SaslAuthenticateResponse()
                .setErrorCode(ErrorCode.SASL_AUTHENTICATION_FAILED.code())
                .setErrorMessage(message);
    }
}
