package io.journalq.server.security.token;

import io.journalq.server.broker.TestRsa;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An identity provider with one key of each type, which signs what a test asks for. There are two, and each key is
 * made or read when a test first needs it. For any thread.
 */
public final class TestIssuer {
    public static final String ISSUER = "https://login.example.com";
    public static final String AUDIENCE = "journalq";

    /** The provider that brokers trust. */
    public static final TestIssuer TRUSTED = new TestIssuer(TestRsa.ONE);

    /** A provider that claims to be the trusted one: its keys have the same ids. */
    public static final TestIssuer FORGER = new TestIssuer(TestRsa.TWO);

    private final Map<String, KeyPair> keys = new ConcurrentHashMap<>();

    private final TestRsa rsa;

    private TestIssuer(TestRsa rsa) {
        this.rsa = rsa;
    }

    KeyPair key(String algorithm) {
        return keys.computeIfAbsent(keyId(algorithm), this::create);
    }

    private KeyPair create(String keyId) {
        try {
            return switch (keyId) {
                case "RS256" -> rsa.keys();
                case "ES256" -> {
                    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
                    generator.initialize(new ECGenParameterSpec("secp256r1"));
                    yield generator.generateKeyPair();
                }
                default -> KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
            };
        } catch (GeneralSecurityException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    /** The id of a key is the algorithm, except that both of RSA have the same. */
    static String keyId(String algorithm) {
        return algorithm.equals("PS256") ? "RS256" : algorithm;
    }

    /** The public keys. */
    public String jwks() {
        return Stream.of("ES256", "EdDSA", "RS256")
                .map(id -> jwk(id, key(id)))
                .collect(Collectors.joining(",", "{\"keys\":[", "]}"));
    }

    private static String jwk(String id, KeyPair pair) {
        String head = "{\"kid\":\"" + id + "\",";
        if (pair.getPublic() instanceof RSAPublicKey rsa) {
            return head + "\"kty\":\"RSA\",\"n\":\"" + number(rsa.getModulus(), 0) + "\",\"e\":\""
                    + number(rsa.getPublicExponent(), 0) + "\"}";
        } else if (pair.getPublic() instanceof ECPublicKey ec) {
            return head + "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\""
                    + number(ec.getW().getAffineX(), 32) + "\",\"y\":\""
                    + number(ec.getW().getAffineY(), 32) + "\"}";
        }
        EdECPublicKey ed = (EdECPublicKey) pair.getPublic();
        byte[] bigEndian = bytes(ed.getPoint().getY(), 32);
        byte[] x = new byte[32];
        for (int i = 0; i < x.length; i++) {
            x[i] = bigEndian[x.length - 1 - i];
        }
        if (ed.getPoint().isXOdd()) {
            x[31] |= (byte) 0x80;
        }
        return head + "\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" + encode(x) + "\"}";
    }

    private static String number(BigInteger number, int minBytes) {
        return encode(bytes(number, minBytes));
    }

    private static byte[] bytes(BigInteger number, int minBytes) {
        byte[] signed = number.toByteArray();
        int start = signed[0] == 0 ? 1 : 0;
        int size = Math.max(minBytes, signed.length - start);
        byte[] bytes = new byte[size];
        System.arraycopy(signed, start, bytes, size - (signed.length - start), signed.length - start);
        return bytes;
    }

    static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    static String encode(String text) {
        return encode(text.getBytes(StandardCharsets.UTF_8));
    }

    static String claims(String user, Instant end) {
        return "{\"iss\":\"" + ISSUER + "\",\"aud\":[\"other\",\"" + AUDIENCE + "\"],\"sub\":\"" + user + "\",\"exp\":"
                + end.getEpochSecond() + "}";
    }

    /** A token of a user that is valid until then. */
    public String token(String user, Instant end) throws GeneralSecurityException {
        return token("ES256", claims(user, end));
    }

    /** The same for another audience. */
    public String tokenFor(String audience, String user, Instant end) throws GeneralSecurityException {
        return token("ES256", claims(user, end).replace("\"" + AUDIENCE + "\"", "\"" + audience + "\""));
    }

    String token(String algorithm, String claims) throws GeneralSecurityException {
        return token(algorithm, "{\"alg\":\"" + algorithm + "\",\"kid\":\"" + keyId(algorithm) + "\"}", claims);
    }

    String token(String algorithm, String header, String claims) throws GeneralSecurityException {
        String signed = encode(header) + "." + encode(claims);
        Signature signature;
        switch (algorithm) {
            case "RS256" -> signature = Signature.getInstance("SHA256withRSA");
            case "PS256" -> {
                signature = Signature.getInstance("RSASSA-PSS");
                signature.setParameter(new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 32, 1));
            }
            case "ES256" -> signature = Signature.getInstance("SHA256withECDSAinP1363Format");
            default -> signature = Signature.getInstance("Ed25519");
        }
        signature.initSign(key(algorithm).getPrivate());
        signature.update(signed.getBytes(StandardCharsets.US_ASCII));
        return signed + "." + encode(signature.sign());
    }
}
