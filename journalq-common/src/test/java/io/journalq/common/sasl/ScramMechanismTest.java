package io.journalq.common.sasl;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.sasl.ScramMessages.ClientFinal;
import io.journalq.common.sasl.ScramMessages.ClientFirst;
import io.journalq.common.sasl.ScramMessages.ServerFirst;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The calculations of SCRAM, with the example of RFC 7677 and another implementation of PBKDF2. */
class ScramMechanismTest {
    private static final byte[] PASSWORD = "pencil".getBytes(StandardCharsets.UTF_8);
    private static final ScramMechanism SHA_256 = ScramMechanism.SCRAM_SHA_256;

    /** RFC 7677, section 3. */
    @Test
    void shouldComputeTheMessagesOfTheExampleInRfc7677() {
        ClientFirst first = ClientFirst.of("user", "rOprNGfwEbeRWgbNEkqO");
        ServerFirst challenge = ServerFirst.parse(
                "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
        byte[] salted = SHA_256.saltedPassword(PASSWORD, challenge.salt(), challenge.iterations());
        String unproven = ClientFinal.unproven(first.gs2Header(), challenge.nonce());
        String authMessage = ScramMessages.authMessage(first, challenge, unproven);
        byte[] proof = SHA_256.clientProof(salted, authMessage);

        assertThat(first.text()).isEqualTo("n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        assertThat(ClientFinal.text(unproven, proof))
                .isEqualTo("c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
                        + "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
        ScramCredential credential = SHA_256.credential(salted, challenge.salt(), challenge.iterations());
        assertThat(SHA_256.isProven(credential, authMessage, proof)).isTrue();
        assertThat(ScramMessages.serverFinal(SHA_256.serverSignature(credential, authMessage)))
                .isEqualTo("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        assertThat(SHA_256.serverSignature(salted, authMessage))
                .isEqualTo(SHA_256.serverSignature(credential, authMessage));
    }

    @ParameterizedTest
    @EnumSource
    void shouldComputeTheSaltedPasswordOfTheJdk(ScramMechanism mechanism) throws GeneralSecurityException {
        byte[] salt = Base64.getDecoder().decode("W22ZaJ0SNY7soEsUEjb6gQ==");
        PBEKeySpec spec = new PBEKeySpec("pÄssword".toCharArray(), salt, 5_000, mechanism.hashSizeBytes() * Byte.SIZE);
        String hash = mechanism == SHA_256 ? "PBKDF2WithHmacSHA256" : "PBKDF2WithHmacSHA512";

        assertThat(mechanism.saltedPassword("pÄssword".getBytes(StandardCharsets.UTF_8), salt, 5_000))
                .isEqualTo(
                        SecretKeyFactory.getInstance(hash).generateSecret(spec).getEncoded());
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseAProofWhenOneBitOfItOrOfTheMessageDiffers(ScramMechanism mechanism) {
        byte[] salt = {1, 2, 3};
        byte[] salted = mechanism.saltedPassword(PASSWORD, salt, 4_096);
        ScramCredential credential = mechanism.credential(salted, salt, 4_096);
        byte[] proof = mechanism.clientProof(salted, "message");

        assertThat(mechanism.isProven(credential, "message", proof)).isTrue();
        assertThat(mechanism.isProven(credential, "massage", proof)).isFalse();
        assertThat(mechanism.isProven(credential, "message", new byte[0])).isFalse();
        for (int i = 0; i < proof.length; i++) {
            byte[] changed = proof.clone();
            changed[i] ^= 1;
            assertThat(mechanism.isProven(credential, "message", changed)).isFalse();
        }
        assertThat(mechanism.isPassword(credential, PASSWORD)).isTrue();
        assertThat(mechanism.isPassword(credential, "pencils".getBytes(StandardCharsets.UTF_8)))
                .isFalse();
    }

    @Test
    void shouldShowNoKeyWhenACredentialIsPrinted() {
        byte[] salt = {1, 2, 3};
        ScramCredential credential = SHA_256.credential(SHA_256.saltedPassword(PASSWORD, salt, 4_096), salt, 4_096);

        assertThat(credential).hasToString("SCRAM-SHA-256(iterations=4096)");
    }
}
