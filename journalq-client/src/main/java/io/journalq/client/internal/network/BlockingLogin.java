package io.journalq.client.internal.network;

import io.journalq.client.internal.network.SaslLogin.LoginException;
import io.journalq.client.security.SaslConfig;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.SaslAuthenticateRequest;
import io.journalq.common.protocol.message.SaslAuthenticateResponse;
import io.journalq.common.protocol.message.SaslHandshakeRequest;
import io.journalq.common.protocol.message.SaslHandshakeResponse;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;

/**
 * A login on a {@link BlockingConnection}, as {@link ConnectionLogin} does it on the event loop. If it fails, the event loop
 * says why to the application. One thread.
 */
final class BlockingLogin {
    private final BlockingConnection connection;
    private final SaslConfig config;
    private final SaslLogin exchange;

    BlockingLogin(BlockingConnection connection, SaslConfig config) {
        this.connection = connection;
        this.config = config;
        this.exchange = new SaslLogin(config);
    }

    /**
     * Logs in.
     *
     * @return the time in milliseconds after which the session ends; 0 if it does not
     * @throws IOException if the login fails; the connection cannot be used then
     */
    long run() throws IOException {
        SaslHandshakeResponse handshake = (SaslHandshakeResponse)
                send(ApiKey.SASL_HANDSHAKE, new SaslHandshakeRequest().setMechanism(config.mechanism()));
        requireNone(handshake.errorCode());
        try {
            byte[] message = exchange.begin();
            while (!exchange.isLast()) {
                message = exchange.next(bytes(authenticate(message)));
            }
            SaslAuthenticateResponse last = authenticate(message);
            exchange.finish(bytes(last));
            return last.sessionLifetimeMs();
        } catch (LoginException failed) {
            throw new IOException("the login failed: " + failed.getMessage(), failed);
        }
    }

    private SaslAuthenticateResponse authenticate(byte[] message) throws IOException {
        SaslAuthenticateResponse step = (SaslAuthenticateResponse) send(
                ApiKey.SASL_AUTHENTICATE, new SaslAuthenticateRequest().setAuthBytes(Unpooled.wrappedBuffer(message)));
        requireNone(step.errorCode());
        return step;
    }

    private ApiMessage send(ApiKey key, ApiMessage request) throws IOException {
        return connection.exchange(key, connection.version(key, key.highestVersion()), request);
    }

    private static byte[] bytes(SaslAuthenticateResponse step) {
        return ByteBufUtil.getBytes(step.authBytes());
    }

    private static void requireNone(short errorCode) throws IOException {
        if (errorCode != ErrorCode.NONE.code()) {
            throw new IOException("the login failed: " + ErrorCode.of(errorCode));
        }
    }
}
