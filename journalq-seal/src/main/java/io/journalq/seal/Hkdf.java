package io.journalq.seal;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HKDF with SHA-256 (RFC 5869), which Java has only since version 24. Stateless. */
final class Hkdf {
    static final int HASH_SIZE_BYTES = 32;
    private static final String MAC = "HmacSHA256";

    private Hkdf() {}

    static byte[] hmac(byte[] key, byte[]... parts) {
        try {
            Mac mac = Mac.getInstance(MAC);
            mac.init(new SecretKeySpec(key.length == 0 ? new byte[HASH_SIZE_BYTES] : key, MAC));
            for (byte[] part : parts) {
                mac.update(part);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("this Java has no " + MAC, missing);
        }
    }

    static byte[] sha256(byte[]... parts) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (byte[] part : parts) {
                digest.update(part);
            }
            return digest.digest();
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException(missing);
        }
    }

    /** Concentrates input key material. An empty salt means zeros. */
    static byte[] extract(byte[] salt, byte[]... inputKeyMaterial) {
        return hmac(salt, inputKeyMaterial);
    }

    /** Derives {@code sizeBytes} bytes, at most 255 times {@link #HASH_SIZE_BYTES}. */
    static byte[] expand(byte[] pseudorandomKey, byte[] info, int sizeBytes) {
        byte[] output = new byte[sizeBytes];
        byte[] block = {};
        int filled = 0;
        for (int counter = 1; filled < sizeBytes; counter++) {
            block = hmac(pseudorandomKey, block, info, new byte[] {(byte) counter});
            int take = Math.min(block.length, sizeBytes - filled);
            System.arraycopy(block, 0, output, filled, take);
            filled += take;
        }
        Arrays.fill(block, (byte) 0);
        return output;
    }
}
