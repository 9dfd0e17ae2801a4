package io.journalq.server.security.token;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;

/**
 * A signed token in the compact form (RFC 7515, RFC 7519), whose signature has not been checked. Immutable.
 *
 * @param algorithm of the signature, as the token names it
 * @param keyId the key of the signature, as the token names it
 * @param signed the part that is signed
 */
@SuppressWarnings("ArrayRecordComponent") // tokens are not compared
record JsonWebToken(
        SignatureAlgorithm algorithm, String keyId, Map<String, Object> claims, byte[] signed, byte[] signature) {
    static final int MAX_LENGTH = 16 * 1024;

    private static final int PARTS = 3;

    /** The token cannot be accepted. The message contains nothing of it. */
    static final class BadTokenException extends Exception {
        private static final long serialVersionUID = 1L;

        BadTokenException(String message) {
            super(message);
        }
    }

    /** Parses a token. Refuses algorithms without a signature or with a shared key, extensions and encrypted tokens. */
    static JsonWebToken parse(String text) throws BadTokenException {
        if (text.length() > MAX_LENGTH) {
            throw new BadTokenException("the token is too long");
        }
        String[] parts = text.split("\\.", -1);
        if (parts.length != PARTS) {
            throw new BadTokenException("the token does not have three parts");
        }
        Map<String, Object> header = object(parts[0]);
        SignatureAlgorithm algorithm = SignatureAlgorithm.of(JsonFields.text(header, "alg"));
        if (algorithm == null) {
            throw new BadTokenException("the signature of the token has no supported algorithm");
        }
        String keyId = JsonFields.text(header, "kid");
        if (keyId == null || keyId.isEmpty()) {
            throw new BadTokenException("the token does not name its key (kid)");
        }
        if (header.containsKey("crit") || header.containsKey("b64") || header.containsKey("zip")) {
            throw new BadTokenException("the token uses an extension");
        }
        return new JsonWebToken(
                algorithm,
                keyId,
                object(parts[1]),
                (parts[0] + '.' + parts[1]).getBytes(StandardCharsets.US_ASCII),
                decode(parts[2]));
    }

    private static Map<String, Object> object(String part) throws BadTokenException {
        try {
            return JsonFields.read(decode(part));
        } catch (IOException malformed) {
            throw new BadTokenException("a part of the token is not a JSON object");
        }
    }

    private static byte[] decode(String part) throws BadTokenException {
        try {
            return Base64.getUrlDecoder().decode(part);
        } catch (IllegalArgumentException malformed) {
            throw new BadTokenException("a part of the token is not Base64");
        }
    }
}
