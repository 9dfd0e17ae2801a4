package io.journalq.bench.load;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.SaslAuthenticateRequest;
import io.journalq.common.protocol.message.SaslAuthenticateResponse;
import io.journalq.common.protocol.message.SaslHandshakeRequest;
import io.journalq.common.protocol.message.SaslHandshakeResponse;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.common.sasl.ScramMessages;
import io.journalq.common.sasl.ScramMessages.ClientFinal;
import io.journalq.common.sasl.ScramMessages.ClientFirst;
import io.journalq.common.sasl.ScramMessages.ServerFirst;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Logs connections in by SCRAM-SHA-256. Computes the salted password once. One thread. */
final class ScramLogin {
    private static final short HANDSHAKE_VERSION = 1;
    private static final short AUTHENTICATE_VERSION = 2;
    private static final String NONCE = "0123456789abcdefghijklmn";

    private final String user;
    private final byte[] password;
    private byte[] salt;
    private byte[] salted;

    ScramLogin(String user, String password) {
        this.user = user;
        this.password = password.getBytes(StandardCharsets.UTF_8);
    }

    /** Logs in over a new connection without TLS, which blocks. Fails if the broker refuses. */
    void run(Socket socket) throws IOException {
        call(
                socket,
                new SaslHandshakeRequest().setMechanism("SCRAM-SHA-256"),
                HANDSHAKE_VERSION,
                SaslHandshakeResponse.class);
        ClientFirst first = ClientFirst.of(user, NONCE);
        ServerFirst challenge = ServerFirst.parse(send(socket, first.text()));
        if (!Arrays.equals(salt, challenge.salt())) {
            salt = challenge.salt();
            salted = ScramMechanism.SCRAM_SHA_256.saltedPassword(password, salt, challenge.iterations());
        }
        String unproven = ClientFinal.unproven(first.gs2Header(), challenge.nonce());
        byte[] proof =
                ScramMechanism.SCRAM_SHA_256.clientProof(salted, ScramMessages.authMessage(first, challenge, unproven));
        send(socket, ClientFinal.text(unproven, proof));
    }

    private static String send(Socket socket, String message) throws IOException {
        SaslAuthenticateRequest request =
                new SaslAuthenticateRequest().setAuthBytes(Unpooled.copiedBuffer(message, StandardCharsets.UTF_8));
        SaslAuthenticateResponse response = call(socket, request, AUTHENTICATE_VERSION, SaslAuthenticateResponse.class);
        if (response.errorCode() != 0) {
            throw new IOException("the login was refused with error " + response.errorCode());
        }
        return response.authBytes().toString(StandardCharsets.UTF_8);
    }

    private static <T extends ApiMessage> T call(Socket socket, ApiMessage request, short version, Class<T> type)
            throws IOException {
        List<ReferenceCounted> parts =
                Frames.request(UnpooledByteBufAllocator.DEFAULT, 1, "connection-load", request, version);
        ByteBuf frame = Unpooled.wrappedBuffer(parts.toArray(new ByteBuf[0]));
        byte[] bytes = new byte[frame.readableBytes()];
        frame.readBytes(bytes);
        frame.release();
        socket.getOutputStream().write(bytes);
        DataInputStream in = new DataInputStream(socket.getInputStream());
        byte[] response = new byte[in.readInt()];
        in.readFully(response);
        MessageReader reader = new MessageReader(Unpooled.wrappedBuffer(response));
        Frames.readResponseHeader(reader, request.apiKey(), version);
        return type.cast(ApiMessages.readResponse(request.apiKey(), reader, version));
    }
}
