package io.journalq.server.security.token;

import java.io.IOException;
import java.math.BigInteger;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.EdECPoint;
import java.security.spec.EdECPublicKeySpec;
import java.security.spec.NamedParameterSpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The public keys of an identity provider, by their ids (JWKS, RFC 7517). Immutable. */
final class JwksKeys {
    static final int MAX_SIZE_BYTES = 1 << 20;
    private static final int MAX_KEYS = 1_000;

    /** Before the first keys are known. */
    static final JwksKeys NONE = new JwksKeys(Map.of());

    private final Map<String, Entry> byId;

    /** @param algorithm the only one of the key; null for any that fits it */
    private record Entry(PublicKey key, SignatureAlgorithm algorithm) {}

    private JwksKeys(Map<String, Entry> byId) {
        this.byId = Map.copyOf(byId);
    }

    /**
     * Parses a key set. Keys without an id, of another type, or for encryption are ignored, and so is an id that occurs
     * twice.
     *
     * @throws IOException when this is no key set, or it has no usable key
     */
    static JwksKeys parse(byte[] json) throws IOException {
        if (json.length > MAX_SIZE_BYTES) {
            throw new IOException("the key set has more than " + MAX_SIZE_BYTES + " bytes");
        }
        if (!(JsonFields.read(json).get("keys") instanceof List<?> listed) || listed.size() > MAX_KEYS) {
            throw new IOException("there is no list 'keys' of up to " + MAX_KEYS + " keys");
        }
        Map<String, Entry> keys = new TreeMap<>();
        Map<String, Boolean> seen = new TreeMap<>();
        for (Object one : listed) {
            if (one instanceof Map<?, ?> fields) {
                add(asFields(fields), keys, seen);
            }
        }
        if (keys.isEmpty()) {
            throw new IOException("there is no usable key with an id (kid)");
        }
        return new JwksKeys(keys);
    }

    @SuppressWarnings("unchecked") // JsonFields makes all keys texts
    private static Map<String, Object> asFields(Map<?, ?> fields) {
        return (Map<String, Object>) fields;
    }

    private static void add(Map<String, Object> fields, Map<String, Entry> keys, Map<String, Boolean> seen) {
        String id = JsonFields.text(fields, "kid");
        if (id == null || id.isEmpty() || "enc".equals(fields.get("use"))) {
            return;
        }
        if (seen.put(id, true) != null) {
            keys.remove(id);
            return;
        }
        String alg = JsonFields.text(fields, "alg");
        SignatureAlgorithm only = SignatureAlgorithm.of(alg);
        if (alg != null && only == null) {
            return;
        }
        try {
            PublicKey key = publicKey(fields);
            if (key != null && (only == null || only.fits(key))) {
                keys.put(id, new Entry(key, only));
            }
        } catch (GeneralSecurityException | IllegalArgumentException unusable) {
            keys.remove(id); // as if it were of an unknown type
        }
    }

    /** Null if the type is not supported. */
    private static PublicKey publicKey(Map<String, Object> fields) throws GeneralSecurityException {
        String type = JsonFields.text(fields, "kty");
        String curve = JsonFields.text(fields, "crv");
        if ("RSA".equals(type)) {
            return KeyFactory.getInstance("RSA")
                    .generatePublic(new RSAPublicKeySpec(number(fields, "n"), number(fields, "e")));
        } else if ("EC".equals(type) && "P-256".equals(curve)) {
            AlgorithmParameters parameters = AlgorithmParameters.getInstance("EC");
            parameters.init(new ECGenParameterSpec("secp256r1"));
            return KeyFactory.getInstance("EC")
                    .generatePublic(new ECPublicKeySpec(
                            new ECPoint(number(fields, "x"), number(fields, "y")),
                            parameters.getParameterSpec(ECParameterSpec.class)));
        } else if ("OKP".equals(type) && "Ed25519".equals(curve)) {
            return ed25519(bytes(fields, "x"));
        }
        return null;
    }

    /** Little-endian, with the sign of the other coordinate in the highest bit (RFC 8032 section 5.1.5). */
    private static PublicKey ed25519(byte[] x) throws GeneralSecurityException {
        if (x.length != 32) {
            throw new IllegalArgumentException("not a key of Ed25519");
        }
        byte[] bigEndian = new byte[x.length];
        for (int i = 0; i < x.length; i++) {
            bigEndian[i] = x[x.length - 1 - i];
        }
        boolean odd = bigEndian[0] < 0;
        bigEndian[0] &= 0x7F;
        return KeyFactory.getInstance("Ed25519")
                .generatePublic(new EdECPublicKeySpec(
                        NamedParameterSpec.ED25519, new EdECPoint(odd, new BigInteger(1, bigEndian))));
    }

    private static BigInteger number(Map<String, Object> fields, String name) {
        return new BigInteger(1, bytes(fields, name));
    }

    private static byte[] bytes(Map<String, Object> fields, String name) {
        String text = JsonFields.text(fields, name);
        if (text == null) {
            throw new IllegalArgumentException("a part of the key is missing");
        }
        return Base64.getUrlDecoder().decode(text);
    }

    boolean contains(String keyId) {
        return byId.containsKey(keyId);
    }

    /** Whether the signature of a token is one of the key that it names. */
    boolean isSigned(JsonWebToken token) {
        Entry entry = byId.get(token.keyId());
        return entry != null
                && (entry.algorithm() == null || entry.algorithm() == token.algorithm())
                && token.algorithm().isSigned(entry.key(), token.signed(), token.signature());
    }
}
