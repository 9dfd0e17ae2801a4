package io.journalq.server.broker;

import io.journalq.common.protocol.message.SaslAuthenticateRequest;
import io.journalq.common.protocol.message.SaslAuthenticateResponse;
import io.journalq.common.protocol.message.SaslHandshakeRequest;
import io.journalq.common.protocol.message.SaslHandshakeResponse;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.common.sasl.ScramMessages;
import io.journalq.common.sasl.ScramMessages.ClientFinal;
import io.journalq.common.sasl.ScramMessages.ClientFirst;
import io.journalq.common.sasl.ScramMessages.ServerFirst;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/** Logs in by SASL, step by step on one socket, or with the settings of a Kafka client. */
final class SaslClient {
    private final WireClient client;

    SaslClient(WireClient client) {
        this.client = client;
    }

    /** The settings of a Kafka client. */
    static Map<String, Object> settings(String mechanism, String user, String password) {
        String module = mechanism.equals("PLAIN")
                ? "org.apache.kafka.common.security.plain.PlainLoginModule"
                : "org.apache.kafka.common.security.scram.ScramLoginModule";
        Map<String, Object> settings = new TreeMap<>();
        settings.put("sasl.mechanism", mechanism);
        settings.put("sasl.jaas.config", module + " required username=\"" + user + "\" password=\"" + password + "\";");
        return settings;
    }

    SaslHandshakeResponse choose(String mechanism) throws IOException {
        return client.call(SaslHandshakeResponse.class, new SaslHandshakeRequest().setMechanism(mechanism), 1);
    }

    SaslAuthenticateResponse send(String message) throws IOException {
        return client.call(SaslAuthenticateResponse.class, request(message), 2);
    }

    static SaslAuthenticateRequest request(String message) {
        return new SaslAuthenticateRequest().setAuthBytes(Unpooled.copiedBuffer(message, StandardCharsets.UTF_8));
    }

    /** The exchange behind the choice of the mechanism. Returns the final response. */
    SaslAuthenticateResponse scram(ScramMechanism mechanism, String user, String password) throws IOException {
        ClientFirst first = ClientFirst.of(user, "abc123");
        ServerFirst challenge = challenge(first);
        byte[] salted = mechanism.saltedPassword(
                password.getBytes(StandardCharsets.UTF_8), challenge.salt(), challenge.iterations());
        String unproven = ClientFinal.unproven(first.gs2Header(), challenge.nonce());
        byte[] proof = mechanism.clientProof(salted, ScramMessages.authMessage(first, challenge, unproven));
        return send(ClientFinal.text(unproven, proof));
    }

    ServerFirst challenge(ClientFirst first) throws IOException {
        return ServerFirst.parse(send(first.text()).authBytes().toString(StandardCharsets.UTF_8));
    }
}
