package io.journalq.server.security.token;

import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;

/**
 * The algorithms of signatures that are accepted (RFC 7518, RFC 8037). None of them uses a shared key, so that nobody
 * can sign with a public key.
 */
enum SignatureAlgorithm {
    RS256("RS256"),
    PS256("PS256"),
    ES256("ES256"),
    EDDSA("EdDSA");

    private static final int HASH_SIZE_BYTES = 32;
    private static final int EC_SIZE_BYTES = 64;
    private static final int MIN_RSA_BITS = 2_048;
    private static final int P256_BITS = 256;

    private final String label;

    SignatureAlgorithm(String label) {
        this.label = label;
    }

    /** The algorithm of this name; null if there is none. */
    static SignatureAlgorithm of(String label) {
        for (SignatureAlgorithm algorithm : values()) {
            if (algorithm.label.equals(label)) {
                return algorithm;
            }
        }
        return null;
    }

    /** Whether a key can be one of this algorithm. */
    boolean fits(PublicKey key) {
        return switch (this) {
            case RS256, PS256 ->
                key instanceof RSAPublicKey rsa && rsa.getModulus().bitLength() >= MIN_RSA_BITS;
            case ES256 ->
                key instanceof ECPublicKey ec
                        && ec.getParams().getCurve().getField().getFieldSize() == P256_BITS;
            case EDDSA -> key instanceof EdECPublicKey;
        };
    }

    /** Whether a signature is one of the owner of the key. */
    boolean isSigned(PublicKey key, byte[] text, byte[] signature) {
        if (!fits(key) || (this == ES256 && signature.length != EC_SIZE_BYTES)) {
            return false;
        }
        try {
            Signature check = check();
            check.initVerify(key);
            check.update(text);
            return check.verify(signature);
        } catch (GeneralSecurityException malformed) {
            return false;
        }
    }

    private Signature check() throws GeneralSecurityException {
        return switch (this) {
            case RS256 -> Signature.getInstance("SHA256withRSA");
            case PS256 -> pss();
            case ES256 -> Signature.getInstance("SHA256withECDSAinP1363Format");
            case EDDSA -> Signature.getInstance("Ed25519");
        };
    }

    private static Signature pss() throws GeneralSecurityException {
        Signature pss = Signature.getInstance("RSASSA-PSS");
        pss.setParameter(new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, HASH_SIZE_BYTES, 1));
        return pss;
    }
}
