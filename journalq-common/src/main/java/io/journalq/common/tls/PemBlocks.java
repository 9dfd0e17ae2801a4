package io.journalq.common.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * The certificates and the private key of a PEM file. Text outside of blocks is ignored. A block without an end is an
 * error, because the file is then cut off, or is being written. Immutable.
 *
 * <p>Source: RFC 7468.
 */
final class PemBlocks {
    private static final String BEGIN = "-----BEGIN ";
    private static final String END = "-----END ";
    private static final String DASHES = "-----";
    private static final Pattern LABEL = Pattern.compile("[A-Z0-9 ]{1,40}");
    private static final Pattern BLANKS = Pattern.compile("\\s+");
    private static final String CERTIFICATE = "CERTIFICATE";
    private static final String KEY = "PRIVATE KEY";
    private static final String ENCRYPTED_KEY = "ENCRYPTED PRIVATE KEY";
    private static final String WRONG_PASSWORD = "the password of the private key is wrong";
    private static final List<String> KEY_ALGORITHMS = List.of("EC", "RSA", "Ed25519");

    private final List<Block> blocks;

    private record Block(String label, String base64) {
        byte[] content() throws GeneralSecurityException {
            try {
                return Base64.getDecoder().decode(BLANKS.matcher(base64).replaceAll(""));
            } catch (IllegalArgumentException malformed) {
                // Without its message, which contains a character of the file.
                throw new GeneralSecurityException("the content of a block " + label + " is not Base64");
            }
        }
    }

    private PemBlocks(List<Block> blocks) {
        this.blocks = List.copyOf(blocks);
    }

    /** Splits a file into its blocks. */
    static PemBlocks of(byte[] file) throws GeneralSecurityException {
        String text = new String(file, StandardCharsets.US_ASCII);
        List<Block> blocks = new ArrayList<>();
        for (int begin = text.indexOf(BEGIN); begin >= 0; ) {
            int labelStart = begin + BEGIN.length();
            int labelEnd = text.indexOf(DASHES, labelStart);
            String label = labelEnd < 0 ? "" : text.substring(labelStart, labelEnd);
            if (!LABEL.matcher(label).matches()) {
                throw new GeneralSecurityException("a line that begins a block is malformed; the file may be cut off");
            }
            int start = labelEnd + DASHES.length();
            int end = text.indexOf(END + label + DASHES, start);
            int next = text.indexOf(BEGIN, start);
            if (end < 0 || (next >= 0 && next < end)) {
                throw new GeneralSecurityException("a block " + label + " has no end; the file may be cut off");
            }
            blocks.add(new Block(label, text.substring(start, end)));
            begin = next;
        }
        return new PemBlocks(blocks);
    }

    /** Every certificate, in the order of the file. */
    List<X509Certificate> certificates() throws GeneralSecurityException {
        List<X509Certificate> found = new ArrayList<>();
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        for (Block block : blocks) {
            if (block.label().equals(CERTIFICATE)) {
                found.add((X509Certificate) factory.generateCertificate(new ByteArrayInputStream(block.content())));
            }
        }
        return found;
    }

    /**
     * The only private key.
     *
     * @param password null if the key is not encrypted
     * @throws GeneralSecurityException when there is none, there are several, or the password does not fit
     */
    PrivateKey privateKey(char[] password) throws GeneralSecurityException {
        PrivateKey found = null;
        for (Block block : blocks) {
            if (block.label().endsWith(KEY)) {
                if (found != null) {
                    throw new GeneralSecurityException("there are several private keys");
                }
                found = privateKey(block, password);
            }
        }
        if (found == null) {
            throw new GeneralSecurityException("there is no private key");
        }
        return found;
    }

    private static PrivateKey privateKey(Block block, char[] password) throws GeneralSecurityException {
        return switch (block.label()) {
            case KEY -> keyOf(block.content());
            case ENCRYPTED_KEY -> keyOfDecrypted(decrypt(block.content(), password));
            default ->
                throw new GeneralSecurityException(
                        "the private key is a " + block.label() + "; convert it to PKCS #8 with: openssl pkcs8 -topk8");
        };
    }

    private static byte[] decrypt(byte[] encrypted, char[] password) throws GeneralSecurityException {
        if (password == null) {
            throw new GeneralSecurityException("the private key is encrypted, and there is no password for it");
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
            throw new GeneralSecurityException("the encrypted private key is malformed", malformed);
        } catch (javax.crypto.BadPaddingException wrong) {
            throw new GeneralSecurityException(WRONG_PASSWORD, wrong);
        }
    }

    /** With one of 256 wrong passwords, the padding is right and the key is not. */
    private static PrivateKey keyOfDecrypted(byte[] pkcs8) throws GeneralSecurityException {
        try {
            return keyOf(pkcs8);
        } catch (GeneralSecurityException malformed) {
            throw new GeneralSecurityException(WRONG_PASSWORD + ", or " + malformed.getMessage(), malformed);
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
