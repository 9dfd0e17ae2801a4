package io.journalq.common.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import io.netty.pkitesting.X509Bundle;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKey;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.PBEParameterSpec;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KeyMaterialTest {
    private static final char[] PASSWORD = "canary-51c0de".toCharArray();
    private static final char[] WRONG = "canary-0ther".toCharArray();

    private static final Map<Algorithm, X509Bundle> KEYS = new EnumMap<>(Algorithm.class);

    private static X509Bundle authority;
    private static X509Bundle broker;

    @BeforeAll
    static void makeKeys() throws Exception {
        authority = new CertificateBuilder()
                .subject("CN=authority")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        broker = new CertificateBuilder().subject("CN=broker").buildIssuedBy(authority);
    }

    /** The same for all tests, because RSA keys take a second to make. */
    private static X509Bundle keys(Algorithm algorithm) throws Exception {
        X509Bundle keys = KEYS.get(algorithm);
        if (keys == null) {
            keys = new CertificateBuilder()
                    .subject("CN=broker")
                    .algorithm(algorithm)
                    .buildIssuedBy(authority);
            KEYS.put(algorithm, keys);
        }
        return keys;
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"ecp256", "ecp384", "rsa2048", "ed25519"})
    void shouldReadKeyAndChainWhenTheFileIsPem(Algorithm algorithm) throws Exception {
        X509Bundle keys = keys(algorithm);

        KeyMaterial found = pem("some text\n" + keys.getPrivateKeyPEM() + "\r\n" + keys.getCertificatePathPEM(), null);

        assertThat(found.chain()).containsExactly(keys.getCertificatePath());
        assertThat(found.key().getEncoded())
                .isEqualTo(keys.getKeyPair().getPrivate().getEncoded());
        assertThat(found.toString()).isEqualTo("KeyMaterial(CN=broker)");
    }

    @Test
    void shouldReadKeyAndChainWhenTheFileIsPkcs12() throws Exception {
        byte[] file = pkcs12(broker);

        KeyMaterial found = KeyMaterial.parse(file, KeyFileFormat.PKCS12, PASSWORD, null);

        assertThat(found.chain().get(0)).isEqualTo(broker.getCertificate());
        assertRefused(() -> KeyMaterial.parse(file, KeyFileFormat.PKCS12, WRONG, null), "password was incorrect");
        assertRefused(() -> KeyMaterial.parse(file, KeyFileFormat.PKCS12, null, null), "needs a password");
        assertRefused(() -> KeyMaterial.parse(new byte[100], KeyFileFormat.PKCS12, PASSWORD, null), "");
    }

    @Test
    void shouldSayThatThereIsNoCertificateWhenAPkcs12FileHasOnlyAKey() throws Exception {
        // as openssl pkcs12 -export -nocerts makes it
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("broker", encryptedInfo("PBEWithHmacSHA256AndAES_256"), null);
        byte[] file = bytes(store);

        assertRefused(
                () -> KeyMaterial.parse(file, KeyFileFormat.PKCS12, PASSWORD, null),
                "there is no certificate for the private key");
    }

    @Test
    void shouldDecryptTheKeyWhenItHasAPassword() throws Exception {
        String file = encryptedKey("PBEWithHmacSHA256AndAES_256") + broker.getCertificatePathPEM();

        assertThat(pem(file, PASSWORD).key().getEncoded())
                .isEqualTo(broker.getKeyPair().getPrivate().getEncoded());
        assertRefused(() -> pem(file, WRONG), "the password of the private key is wrong");
        assertRefused(() -> pem(file, null), "the private key is encrypted");
    }

    @Test
    void shouldSayThatThePasswordIsWrongAlsoWhenThePaddingIsRightByChance() throws Exception {
        String algorithm = "PBEWithHmacSHA256AndAES_256";
        Cipher cipher = Cipher.getInstance(algorithm);
        cipher.init(
                Cipher.ENCRYPT_MODE,
                SecretKeyFactory.getInstance(algorithm).generateSecret(new PBEKeySpec(PASSWORD)),
                new PBEParameterSpec(new byte[16], 1, new IvParameterSpec(new byte[16])));
        String file = encrypted(cipher, new byte[100]) + broker.getCertificatePathPEM();

        int malformed = 0;
        for (int i = 0; i < 1_000; i++) {
            char[] wrong = ("canary" + i).toCharArray();
            assertRefused(() -> pem(file, wrong), "the password of the private key is wrong");
            try {
                pem(file, wrong);
            } catch (GeneralSecurityException refused) {
                malformed += refused.getMessage().endsWith("or is malformed") ? 1 : 0;
            }
        }
        assertThat(malformed).isPositive();
    }

    @Test
    void shouldRefuseEachFileThatIsCutOff() throws Exception {
        // cut within the last certificate, the file would otherwise be a key with a shorter chain
        String whole = broker.getPrivateKeyPEM() + broker.getCertificatePathPEM();
        int end = whole.lastIndexOf("-----END CERTIFICATE-----");
        int begin = whole.lastIndexOf("-----BEGIN CERTIFICATE-----");

        for (int length = begin + "-----BEGIN ".length();
                length < end + "-----END CERTIFICATE-----".length();
                length++) {
            String cut = whole.substring(0, length);
            assertThatThrownBy(() -> pem(cut, null))
                    .as("%s of %s characters", length, whole.length())
                    .isInstanceOf(GeneralSecurityException.class)
                    .hasMessageContaining("cut off");
        }
    }

    @Test
    void shouldSayWhatIsMissingWhenTheFileHasNoKeyOrNoCertificate() {
        assertRefused(() -> pem(broker.getCertificatePathPEM(), null), "there is no private key");
        assertRefused(() -> pem(broker.getPrivateKeyPEM(), null), "there is no certificate for the private key");
        assertRefused(() -> pem("", null), "there is no private key");
        assertRefused(() -> pem(broker.getPrivateKeyPEM() + broker.getPrivateKeyPEM(), null), "several private keys");
        assertRefused(
                () -> pem(
                        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n-----END RSA PRIVATE KEY-----\n",
                        null),
                "openssl pkcs8 -topk8");
    }

    @Test
    void shouldShowNothingOfTheFileWhenTheKeyIsMalformed() {
        String secret = "c2VjcmV0IGNhbmFyeQ";
        for (String content : List.of(secret, secret + "*", "", "AAAA")) {
            assertThatThrownBy(() -> pem(
                            "-----BEGIN PRIVATE KEY-----\n" + content + "\n-----END PRIVATE KEY-----\n"
                                    + broker.getCertificatePathPEM(),
                            null))
                    .isInstanceOf(GeneralSecurityException.class)
                    .hasMessageNotContaining(secret)
                    .hasMessageNotContaining("*");
        }
    }

    @Test
    void shouldRefuseTheKeyOfAnotherCertificate() throws Exception {
        for (Algorithm algorithm : List.of(Algorithm.ecp256, Algorithm.ecp384, Algorithm.rsa2048)) {
            X509Bundle other = keys(algorithm);

            assertRefused(
                    () -> pem(other.getPrivateKeyPEM() + broker.getCertificatePathPEM(), null),
                    "does not belong to the private key");
        }
    }

    @Test
    void shouldSayWhenWhenTheCertificateIsNotValidNow() throws Exception {
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        X509Bundle expired = new CertificateBuilder()
                .subject("CN=old")
                .notBefore(now.minus(2, ChronoUnit.DAYS))
                .notAfter(now.minus(1, ChronoUnit.DAYS))
                .buildIssuedBy(authority);
        X509Bundle early = new CertificateBuilder()
                .subject("CN=new")
                .notBefore(now.plus(1, ChronoUnit.DAYS))
                .notAfter(now.plus(2, ChronoUnit.DAYS))
                .buildIssuedBy(authority);

        assertRefused(
                () -> pem(expired.getPrivateKeyPEM() + expired.getCertificatePathPEM(), null),
                "expired at " + now.minus(1, ChronoUnit.DAYS));
        assertRefused(
                () -> pem(early.getPrivateKeyPEM() + early.getCertificatePathPEM(), null),
                "valid only from " + now.plus(1, ChronoUnit.DAYS));
    }

    @Test
    void shouldReadTrustedCertificates() throws Exception {
        X509Certificate certificate = authority.getCertificate();
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("authority", certificate);
        byte[] pkcs12 = bytes(store);

        assertThat(TrustedCertificates.parse(ascii(authority.getCertificatePEM()), KeyFileFormat.PEM, null))
                .containsExactly(certificate);
        assertThat(TrustedCertificates.parse(pkcs12, KeyFileFormat.PKCS12, PASSWORD))
                .containsExactly(certificate);
        assertThat(TrustedCertificates.manager(List.of(certificate)).getAcceptedIssuers())
                .containsExactly(certificate);
        assertRefused(
                () -> TrustedCertificates.parse(ascii(broker.getPrivateKeyPEM()), KeyFileFormat.PEM, null),
                "there is no trusted certificate");
        assertRefused(
                () -> TrustedCertificates.parse(pkcs12(broker), KeyFileFormat.PKCS12, PASSWORD),
                "not marked as trusted");
    }

    private interface Parsing {
        Object run() throws Exception;
    }

    private static void assertRefused(Parsing parsing, String reason) {
        assertThatThrownBy(parsing::run)
                .isInstanceOf(GeneralSecurityException.class)
                .hasMessageContaining(reason)
                .hasMessageNotContaining("canary");
    }

    private static KeyMaterial pem(String text, char[] keyPassword) throws GeneralSecurityException {
        return KeyMaterial.parse(ascii(text), KeyFileFormat.PEM, null, keyPassword);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] pkcs12(X509Bundle keys) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("broker", keys.getKeyPair().getPrivate(), PASSWORD, keys.getCertificatePathWithRoot());
        return bytes(store);
    }

    private static byte[] bytes(KeyStore store) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        store.store(out, PASSWORD);
        return out.toByteArray();
    }

    private static String encryptedKey(String algorithm) throws Exception {
        return pemOf(encryptedInfo(algorithm));
    }

    private static byte[] encryptedInfo(String algorithm) throws Exception {
        SecretKey secret = SecretKeyFactory.getInstance(algorithm).generateSecret(new PBEKeySpec(PASSWORD));
        Cipher cipher = Cipher.getInstance(algorithm);
        cipher.init(Cipher.ENCRYPT_MODE, secret);
        return encryptedInfo(cipher, broker.getKeyPair().getPrivate().getEncoded());
    }

    private static byte[] encryptedInfo(Cipher cipher, byte[] key) throws Exception {
        byte[] encrypted = cipher.doFinal(key);
        AlgorithmParameters parameters = AlgorithmParameters.getInstance("PBES2");
        parameters.init(cipher.getParameters().getEncoded());
        return new EncryptedPrivateKeyInfo(parameters, encrypted).getEncoded();
    }

    private static String encrypted(Cipher cipher, byte[] key) throws Exception {
        return pemOf(encryptedInfo(cipher, key));
    }

    private static String pemOf(byte[] info) {
        return "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
                + Base64.getMimeEncoder().encodeToString(info) + "\n-----END ENCRYPTED PRIVATE KEY-----\n";
    }
}
