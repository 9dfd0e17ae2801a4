package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.Properties;
import org.bouncycastle.crypto.AsymmetricCipherKeyPair;
import org.bouncycastle.crypto.params.X25519PrivateKeyParameters;
import org.bouncycastle.crypto.params.X25519PublicKeyParameters;
import org.junit.jupiter.api.Test;

class HpkeTest {
    private static final int AES_128_GCM = 1;
    private static final int AES_128_KEY_SIZE_BYTES = 16;
    private static final byte[] INFO = "a packet".getBytes(UTF_8);
    private static final byte[] ASSOCIATED = "readers".getBytes(UTF_8);
    private static final byte[] SECRET = "the secret of an epoch".getBytes(UTF_8);

    private final RawKeyPair recipient = RawKeyPair.ofX25519();
    private final org.bouncycastle.crypto.hpke.HPKE other = new org.bouncycastle.crypto.hpke.HPKE(
            org.bouncycastle.crypto.hpke.HPKE.mode_base,
            org.bouncycastle.crypto.hpke.HPKE.kem_X25519_SHA256,
            org.bouncycastle.crypto.hpke.HPKE.kdf_HKDF_SHA256,
            org.bouncycastle.crypto.hpke.HPKE.aead_AES_GCM256);

    @Test
    void shouldProduceTheVectorOfRfc9180WhenItsKeysAreUsed() throws Exception {
        // given appendix A.1.1, which has the same KEM and KDF with AES-128-GCM
        Properties vector = new Properties();
        try (InputStream in = HpkeTest.class.getResourceAsStream("/rfc9180-a.1.1.properties")) {
            vector.load(in);
        }
        Hpke hpke = new Hpke(AES_128_GCM, AES_128_KEY_SIZE_BYTES);
        RawKeyPair ephemeral = new RawKeyPair(bytes(vector, "skEm"), bytes(vector, "pkEm"));
        RawKeyPair reader = new RawKeyPair(bytes(vector, "skRm"), bytes(vector, "pkRm"));

        // when
        byte[] sealed = hpke.seal(
                reader.publicKey(), ephemeral, bytes(vector, "info"), bytes(vector, "aad"), bytes(vector, "pt"));

        // then
        assertThat(sealed).isEqualTo(bytes(vector, "ct"));
        assertThat(hpke.open(bytes(vector, "enc"), reader, bytes(vector, "info"), bytes(vector, "aad"), sealed))
                .isEqualTo(bytes(vector, "pt"));
    }

    private static byte[] bytes(Properties vector, String name) {
        return HexFormat.of().parseHex(vector.getProperty(name));
    }

    @Test
    void shouldOpenWhatAnotherImplementationSealsWhenTheSuiteIsTheSame() throws Exception {
        byte[][] sealed = other.seal(
                new X25519PublicKeyParameters(recipient.publicKey()), INFO, ASSOCIATED, SECRET, null, null, null);

        assertThat(Hpke.AES_256_GCM.open(sealed[1], recipient, INFO, ASSOCIATED, sealed[0]))
                .isEqualTo(SECRET);
    }

    @Test
    void shouldBeOpenedByAnotherImplementationWhenTheSuiteIsTheSame() throws Exception {
        RawKeyPair ephemeral = RawKeyPair.ofX25519();
        byte[] sealed = Hpke.AES_256_GCM.seal(recipient.publicKey(), ephemeral, INFO, ASSOCIATED, SECRET);

        byte[] opened = other.open(
                ephemeral.publicKey(),
                new AsymmetricCipherKeyPair(
                        new X25519PublicKeyParameters(recipient.publicKey()),
                        new X25519PrivateKeyParameters(recipient.privateKey())),
                INFO,
                ASSOCIATED,
                sealed,
                null,
                null,
                null);

        assertThat(opened).isEqualTo(SECRET);
    }

    @Test
    void shouldFailWhenAnythingIsChanged() throws Exception {
        RawKeyPair ephemeral = RawKeyPair.ofX25519();
        byte[] sealed = Hpke.AES_256_GCM.seal(recipient.publicKey(), ephemeral, INFO, ASSOCIATED, SECRET);
        byte[] changed = sealed.clone();
        changed[0] ^= 1;

        assertThatThrownBy(() -> Hpke.AES_256_GCM.open(ephemeral.publicKey(), recipient, INFO, ASSOCIATED, changed))
                .isInstanceOf(GeneralSecurityException.class);
        assertThatThrownBy(() -> Hpke.AES_256_GCM.open(ephemeral.publicKey(), recipient, SECRET, ASSOCIATED, sealed))
                .isInstanceOf(GeneralSecurityException.class);
        assertThatThrownBy(() -> Hpke.AES_256_GCM.open(ephemeral.publicKey(), recipient, INFO, SECRET, sealed))
                .isInstanceOf(GeneralSecurityException.class);
        assertThatThrownBy(() ->
                        Hpke.AES_256_GCM.open(ephemeral.publicKey(), RawKeyPair.ofX25519(), INFO, ASSOCIATED, sealed))
                .isInstanceOf(GeneralSecurityException.class);
    }

    @Test
    void shouldFailWhenAKeyIsAPointOfSmallOrder() {
        assertThatThrownBy(() -> Hpke.AES_256_GCM.seal(new byte[32], RawKeyPair.ofX25519(), INFO, ASSOCIATED, SECRET))
                .isInstanceOf(GeneralSecurityException.class);
    }
}
