package io.journalq.server.network.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * The certificates and the private key of a PEM file. The messages of its errors contain nothing of the file. Stateless.
 *
 * <p>Source: RFC 7468.
 */
final class PemBlocks {
    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]{1,40})-----([A-Za-z0-9+/=\\s]*)-----END \\1-----");
    private static final String CERTIFICATE = "CERTIFICATE";
    private static final String KEY = "PRIVATE KEY";
    private static final String ENCRYPTED_KEY = "ENCRYPTED PRIVATE KEY";
    private static final List<String> KEY_ALGORITHMS = List.of("EC", "RSA", "Ed25519");

    private PemBlocks() {}

    /** Every certificate, in the order of the file. */
    static List<X509Certificate> certificates(byte[] file) throws CertificateException {
        List<X509Certificate> found = new ArrayList<>();
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        Matcher block = blocks(file);
        while (block.find()) {
            if (block.group(1).equals(CERTIFICATE)) {
                found.add((X509Certificate)
                        factory.generateCertificate(new ByteArrayInputStream(decode(block.group(2)))));
            }
        }
        return found;
    }

    /**
     * The first private key.
     *
     * @param password null if the key is not encrypted
     * @throws GeneralSecurityException when there is none, or the password does not fit
     */
    static PrivateKey privateKey(byte[] file, char[] password) throws GeneralSecurityException {
        Matcher block = blocks(file);
        while (block.find()) {
            if (block.group(1).equals(KEY)) {
                return keyOf(decode(block.group(2)));
            }
            if (block.group(1).equals(ENCRYPTED_KEY)) {
                return keyOf(decrypt(decode(block.group(2)), password));
            }
            if (block.group(1).endsWith(KEY)) {
                throw new GeneralSecurityException("the private key is a " + block.group(1)
                        + "; convert it to PKCS #8 with: openssl pkcs8 -topk8");
            }
        }
        throw new GeneralSecurityException("there is no private key");
    }

    private static Matcher blocks(byte[] file) {
        return BLOCK.matcher(new String(file, StandardCharsets.US_ASCII));
    }

    private static byte[] decode(String base64) {
        return Base64.getMimeDecoder().decode(base64);
    }

    private static byte[] decrypt(byte[] encrypted, char[] password) throws GeneralSecurityException {
        if (password == null) {
            throw new GeneralSecurityException("the private key is encrypted; set ssl.key.password.file");
        }
        try {
            EncryptedPrivateKeyInfo info = new EncryptedPrivateKeyInfo(encrypted);
            // For PBES2, the parameters name the algorithm.
            String algorithm = info.getAlgParameters() == null
                    ? info.getAlgName()
                    : info.getAlgParameters().toString();
            Cipher cipher = Cipher.getInstance(algorithm);
            cipher.init(
                    Cipher.DECRYPT_MODE,
                    SecretKeyFactory.getInstance(algorithm).generateSecret(new PBEKeySpec(password)),
                    info.getAlgParameters());
            return cipher.doFinal(info.getEncryptedData());
        } catch (IOException malformed) {
            throw new GeneralSecurityException("the private key is malformed", malformed);
        }
    }

    private static PrivateKey keyOf(byte[] pkcs8) throws GeneralSecurityException {
        for (String algorithm : KEY_ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
            } catch (InvalidKeySpecException ofAnotherAlgorithm) {
                // the next algorithm may fit
            }
        }
        throw new GeneralSecurityException(
                "the private key is none of " + String.join(", ", KEY_ALGORITHMS) + ", or is malformed");
    }
}
