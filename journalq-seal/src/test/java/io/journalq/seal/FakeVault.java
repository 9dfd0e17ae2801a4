package io.journalq.seal;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The part of the Transit engine's HTTP API that {@link VaultTransit} uses, with one RSA key in version 1, as the
 * documentation of Vault describes it.
 */
final class FakeVault extends FakeKeyService {
    static final String TOKEN = "hvs.canary-token";
    static final String ROLE = "auditors";

    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final Pattern CIPHERTEXT = Pattern.compile("\\{\"ciphertext\":\"vault:v(\\d+):([A-Za-z0-9+/=]+)\"}");

    /** As the operator of Vault sets it. Vault shows no version below. */
    volatile int minDecryptionVersion = 1;

    private final RsaRoleKey key;

    FakeVault(RsaRoleKey key) throws IOException {
        this.key = key;
        start();
    }

    /** A response with a status and errors, as Vault writes them. */
    static Fault status(int code, String error) {
        return response(code, "{\"errors\":[\"" + error + "\"]}\n");
    }

    /** The connection is closed in the middle of the response. */
    static Fault lost() {
        return lost("{\"data\":{\"plaintext\":\"AAAA");
    }

    /** METHOD PATH. */
    @Override
    String name(HttpExchange exchange) {
        return exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath();
    }

    @Override
    void serve(HttpExchange exchange, String body) throws IOException {
        Fault reply;
        if (!TOKEN.equals(exchange.getRequestHeaders().getFirst("X-Vault-Token"))) {
            reply = status(FORBIDDEN, "permission denied");
        } else {
            reply = switch (name(exchange)) {
                case "GET /v1/transit/keys/" + ROLE -> response(OK, description());
                case "POST /v1/transit/decrypt/" + ROLE -> decrypt(body);
                default -> response(NOT_FOUND, "{\"errors\":[]}\n");
            };
        }
        reply.happen(exchange);
    }

    private String description() {
        String pem = "-----BEGIN PUBLIC KEY-----\\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'})
                        .encodeToString(key.publicKey())
                        .replace("\n", "\\n")
                + "\\n-----END PUBLIC KEY-----\\n";
        String version = minDecryptionVersion > 1
                ? ""
                : "\"1\":{\"certificate_chain\":\"\",\"creation_time\":\"2026-11-24T20:00:00Z\",\"name\":\"rsa-3072\","
                        + "\"public_key\":\"" + pem + "\"}";
        return "{\"request_id\":\"1\",\"lease_id\":\"\",\"renewable\":false,\"lease_duration\":0,\"data\":{"
                + "\"allow_plaintext_backup\":false,\"deletion_allowed\":false,\"exportable\":false,\"keys\":{"
                + version + "},\"latest_version\":"
                + minDecryptionVersion + ",\"min_decryption_version\":" + minDecryptionVersion + ","
                + "\"name\":\"" + ROLE
                + "\",\"type\":\"rsa-3072\"},\"wrap_info\":null,\"warnings\":null,\"auth\":null}\n";
    }

    private Fault decrypt(String body) throws IOException {
        Matcher matcher = CIPHERTEXT.matcher(body);
        if (!matcher.matches() || !matcher.group(1).equals("1")) {
            return status(BAD_REQUEST, "invalid ciphertext: no prefix");
        }
        try {
            byte[] plain = key.decrypt(Base64.getDecoder().decode(matcher.group(2)));
            return response(
                    OK,
                    "{\"request_id\":\"2\",\"data\":{\"plaintext\":\""
                            + Base64.getEncoder().encodeToString(plain) + "\"}}\n");
        } catch (GeneralSecurityException wrong) {
            return status(BAD_REQUEST, "failed to RSA decrypt the ciphertext: crypto/rsa: decryption error");
        }
    }
}
