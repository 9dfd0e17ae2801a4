package io.journalq.client.internal.network;

import io.journalq.client.error.AuthenticationFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.network.SaslLogin.LoginException;
import io.journalq.client.security.SaslConfig;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.SaslAuthenticateRequest;
import io.journalq.common.protocol.message.SaslAuthenticateResponse;
import io.journalq.common.protocol.message.SaslHandshakeRequest;
import io.journalq.common.protocol.message.SaslHandshakeResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;

/**
 * One login on a connection: chooses the mechanism, and exchanges its messages with the broker. Belongs to the event
 * loop.
 */
final class ConnectionLogin {
    private final HostAndPort address;
    private final SaslConfig config;
    private final int timeoutMs;
    private final Owner owner;
    private final SaslLogin exchange;

    /** The connection. */
    interface Owner {
        /** Sends a request of the login before all others. */
        void sendNow(Call call);

        /**
         * The client has logged in.
         *
         * @param sessionLifetimeMs after this time, it must log in again; 0 if it need not
         */
        void onLogin(long sessionLifetimeMs);

        /** The login has failed. */
        void onLoginFailed(JournalQException cause);
    }

    ConnectionLogin(HostAndPort address, SaslConfig config, int timeoutMs, Owner owner) {
        this.address = address;
        this.config = config;
        this.timeoutMs = timeoutMs;
        this.owner = owner;
        this.exchange = new SaslLogin(config);
    }

    void begin() {
        owner.sendNow(new HandshakeCall());
    }

    private void fail(String reason) {
        owner.onLoginFailed(new AuthenticationFailedException(address + " " + reason));
    }

    private void sendFirst() {
        byte[] first;
        try {
            first = exchange.begin();
        } catch (LoginException noToken) {
            owner.onLoginFailed(new AuthenticationFailedException("the client " + noToken.getMessage()
                    + " to log in at " + address + "; check the supplier or the file of the token"));
            return;
        }
        owner.sendNow(new MessageCall(first));
    }

    private final class HandshakeCall extends Call {
        HandshakeCall() {
            super(ApiKey.SASL_HANDSHAKE, timeoutMs);
        }

        @Override
        protected ApiMessage request(short version) {
            return new SaslHandshakeRequest().setMechanism(config.mechanism());
        }

        @Override
        protected void onResponse(ApiMessage response, ByteBuf frame, short version) {
            SaslHandshakeResponse handshake = (SaslHandshakeResponse) response;
            switch (ErrorCode.of(handshake.errorCode())) {
                case NONE -> sendFirst();
                case UNSUPPORTED_SASL_MECHANISM ->
                    fail("does not offer " + config.mechanism() + " on this listener, but "
                            + String.join(", ", handshake.mechanisms()) + "; choose another mechanism");
                case ILLEGAL_SASL_STATE ->
                    fail("expects no login; use a listener of the security protocol SASL_SSL or SASL_PLAINTEXT, or"
                            + " remove sasl");
                default -> fail("refused the login: " + ErrorCode.of(handshake.errorCode()));
            }
        }

        @Override
        protected void onFailure(JournalQException cause) {
            owner.onLoginFailed(cause);
        }
    }

    private final class MessageCall extends Call {
        private final byte[] message;

        MessageCall(byte[] message) {
            super(ApiKey.SASL_AUTHENTICATE, timeoutMs);
            this.message = message;
        }

        @Override
        protected ApiMessage request(short version) {
            return new SaslAuthenticateRequest().setAuthBytes(Unpooled.wrappedBuffer(message));
        }

        @Override
        protected void onResponse(ApiMessage response, ByteBuf frame, short version) {
            SaslAuthenticateResponse step = (SaslAuthenticateResponse) response;
            if (step.errorCode() != ErrorCode.NONE.code()) {
                fail(
                        config.user() == null
                                ? "refused the token (" + step.errorMessage() + "); get another one, and compare its"
                                        + " issuer and audience with the settings of the broker"
                                : "refused the login of user " + config.user() + " (" + step.errorMessage()
                                        + "); check the name and the password");
                return;
            }
            byte[] bytes = ByteBufUtil.getBytes(step.authBytes());
            try {
                if (exchange.isLast()) {
                    exchange.finish(bytes);
                    owner.onLogin(step.sessionLifetimeMs());
                } else {
                    owner.sendNow(new MessageCall(exchange.next(bytes)));
                }
            } catch (LoginException broken) {
                fail(broken.getMessage() + "; the client does not trust it");
            }
        }

        @Override
        protected void onFailure(JournalQException cause) {
            owner.onLoginFailed(cause);
        }
    }
}
