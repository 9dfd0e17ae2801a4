package io.journalq.server.security.token;

import io.journalq.fuzz.FuzzTarget;
import io.journalq.server.security.token.TokenValidator.Owner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.NamedParameterSpec;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Set;

/**
 * Tokens (JWT). First byte: 0 for a token as a client sends it, otherwise a header and claims in JSON, separated by a line
 * break, which the provider signs. A client that has one valid token must not make another of it. A token that the provider
 * has signed must name its issuer, the audience and the user.
 */
public final class TokensTarget implements FuzzTarget {
    private static final int MAX_ALLOCATED_PER_BYTE = 2_000;
    private static final int MAX_ALLOCATED_EXTRA_BYTES = 4 << 20;
    private static final Instant NOW = Instant.parse("2026-11-24T20:00:00Z");
    private static final String ISSUER = "https://login.example.com";
    private static final String HEADER = "{\"alg\":\"EdDSA\",\"kid\":\"k\"}";
    private static final String CLAIMS = "{\"iss\":\"" + ISSUER + "\",\"aud\":[\"journalq\"],\"sub\":\"ada\",\"exp\":"
            + (NOW.getEpochSecond() + 60) + "}";

    private final KeyPair provider;
    private final TokenValidator validator;
    private final String valid;

    /** Always the same key. */
    private static final class ConstantRandom extends SecureRandom {
        private static final long serialVersionUID = 1L;

        @Override
        public void nextBytes(byte[] bytes) {
            Arrays.fill(bytes, (byte) 7);
        }
    }

    /** Makes the key of the provider. */
    public TokensTarget() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
            generator.initialize(NamedParameterSpec.ED25519, new ConstantRandom());
            provider = generator.generateKeyPair();
            validator = new TokenValidator(
                    new TokenRules(URI.create("file:///unused"), ISSUER, Set.of("journalq"), "sub", 0),
                    keys(),
                    Runnable::run,
                    Clock.fixed(NOW, ZoneOffset.UTC));
            valid = signed(HEADER.getBytes(StandardCharsets.UTF_8), CLAIMS.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** The time stands still, so that an unknown key never causes another read of the file. */
    private JwksSource keys() throws IOException {
        byte[] encoded = provider.getPublic().getEncoded();
        String x = base64(Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length));
        Path file = Files.createTempFile("jwks", ".json");
        try {
            Files.writeString(
                    file, "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"k\",\"x\":\"" + x + "\"}]}");
            try (JwksSource source = JwksSource.open(file.toUri(), null, () -> 0)) {
                return source; // Only its thread ends.
            }
        } finally {
            Files.delete(file);
        }
    }

    @Override
    public String name() {
        return "tokens";
    }

    @Override
    public List<byte[]> seeds() {
        String none = base64("{\"alg\":\"none\",\"kid\":\"k\"}".getBytes(StandardCharsets.UTF_8));
        return List.of(
                ("\0" + valid).getBytes(StandardCharsets.UTF_8),
                ("\0" + none + valid.substring(valid.indexOf('.'))).getBytes(StandardCharsets.UTF_8),
                ("\1" + HEADER + '\n' + CLAIMS).getBytes(StandardCharsets.UTF_8),
                ("\1" + HEADER + '\n' + CLAIMS.replace("\"exp\"", "\"nbf\":1.5e9,\"x\":[{\"y\":null}],\"exp\""))
                        .getBytes(StandardCharsets.UTF_8),
                ("\1" + HEADER.replace("EdDSA", "RS256") + '\n' + CLAIMS).getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void run(byte[] input) throws Exception {
        if (input.length == 0) {
            return;
        }
        byte[] rest = Arrays.copyOfRange(input, 1, input.length);
        if (input[0] == 0) {
            String token = new String(rest, StandardCharsets.ISO_8859_1);
            if (check(token).user() != null && !signedPart(token).equals(signedPart(valid))) {
                throw new AssertionError("a forged token is accepted");
            }
        } else {
            runSigned(rest);
        }
    }

    private void runSigned(byte[] json) throws Exception {
        int headerBytes = 0;
        while (headerBytes < json.length && json[headerBytes] != '\n') {
            headerBytes++;
        }
        byte[] claims = Arrays.copyOfRange(json, Math.min(headerBytes + 1, json.length), json.length);
        Owner owner = check(signed(Arrays.copyOf(json, headerBytes), claims));
        if (owner.user() != null
                && !(JsonFields.read(claims).get("iss").equals(ISSUER)
                        && owner.lifetimeMs() >= 1
                        && owner.user().equals(JsonFields.read(claims).get("sub")))) {
            throw new AssertionError("a token without its claims is accepted");
        }
    }

    private Owner check(String token) {
        Owner owner = validator.check(token).toCompletableFuture().join();
        if (owner.user() == null == (owner.refusal() == null)) {
            throw new AssertionError("neither accepted nor refused");
        }
        return owner;
    }

    private static String signedPart(String token) {
        return token.substring(0, token.lastIndexOf('.'));
    }

    private String signed(byte[] header, byte[] claims) throws GeneralSecurityException {
        String text = base64(header) + '.' + base64(claims);
        Signature signature = Signature.getInstance("Ed25519");
        signature.initSign(provider.getPrivate());
        signature.update(text.getBytes(StandardCharsets.US_ASCII));
        return text + '.' + base64(signature.sign());
    }

    private static String base64(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_EXTRA_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
