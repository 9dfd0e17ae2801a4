package io.journalq.client.internal.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.internal.network.SaslLogin.LoginException;
import io.journalq.client.security.SaslConfig;
import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.common.sasl.ScramMessages;
import io.journalq.common.sasl.ScramMessages.ClientFinal;
import io.journalq.common.sasl.ScramMessages.ClientFirst;
import io.journalq.common.sasl.ScramMessages.ServerFirst;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client accepts from a broker while it logs in. */
class SaslLoginTest {
    private static final String PASSWORD = "secret";
    private static final byte[] SALT = {1, 2, 3, 4, 5, 6, 7, 8};
    private static final int ITERATIONS = 4_096;

    private final SaslLogin login = new SaslLogin(SaslConfig.scramSha256("ada", PASSWORD.toCharArray()));

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private ClientFirst begin() throws LoginException {
        return ClientFirst.parse(new String(login.begin(), StandardCharsets.UTF_8));
    }

    private byte[] challenge(String nonce, int iterations) throws LoginException {
        return login.next(utf8(ServerFirst.of(nonce, SALT, iterations).text()));
    }

    @ParameterizedTest
    @EnumSource
    void shouldTrustTheBrokerWhenItProvesThatItKnowsTheUser(ScramMechanism mechanism) throws Exception {
        // given
        SaslConfig config = mechanism == ScramMechanism.SCRAM_SHA_256
                ? SaslConfig.scramSha256("ada", PASSWORD.toCharArray())
                : SaslConfig.scramSha512("ada", PASSWORD.toCharArray());
        SaslLogin tested = new SaslLogin(config);
        ScramCredential credential =
                mechanism.credential(mechanism.saltedPassword(utf8(PASSWORD), SALT, ITERATIONS), SALT, ITERATIONS);

        // when
        ClientFirst first = ClientFirst.parse(new String(tested.begin(), StandardCharsets.UTF_8));
        ServerFirst challenge = ServerFirst.of(first.nonce() + "more", SALT, ITERATIONS);
        ClientFinal last = ClientFinal.parse(new String(tested.next(utf8(challenge.text())), StandardCharsets.UTF_8));
        String authMessage = ScramMessages.authMessage(first, challenge, last.unproven());

        // then
        assertThat(tested.isLast()).isTrue();
        assertThat(mechanism.isProven(credential, authMessage, last.proof())).isTrue();
        assertThatCode(() -> tested.finish(
                        utf8(ScramMessages.serverFinal(mechanism.serverSignature(credential, authMessage)))))
                .doesNotThrowAnyException();
    }

    /** A broker that asks for one iteration gets a proof from which the password can be guessed quickly. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4_095, 16_385, 999_999_999})
    @Tag("CVE-2026-10143")
    void shouldRefuseABrokerWhenItsIterationsAreOutsideTheBounds(int iterations) throws LoginException {
        String nonce = begin().nonce();

        assertThatThrownBy(() -> challenge(nonce + "x", iterations))
                .isInstanceOf(LoginException.class)
                .hasMessageContaining("asked for " + iterations + " iterations, instead of 4096 to 16384");
    }

    @ParameterizedTest
    @ValueSource(ints = {4_096, 16_384})
    void shouldRespondToABrokerWhenItsIterationsAreAtABound(int iterations) throws Exception {
        assertThat(challenge(begin().nonce() + "x", iterations)).isNotEmpty();
    }

    /** A broker that repeats only the nonce of another login could replay its messages. */
    @Test
    @Tag("CVE-2024-56128")
    void shouldRefuseABrokerWhenItsNonceIsNotThatOfThisLogin() throws LoginException {
        String nonce = begin().nonce();

        for (String other : new String[] {"x" + nonce, nonce, nonce.substring(1) + "xx", "short"}) {
            assertThatThrownBy(() -> challenge(other, ITERATIONS))
                    .as(other)
                    .isInstanceOf(LoginException.class)
                    .hasMessageContaining("another login");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "v=", "v=AAAA", "e=other-error", "r=a,s=AA==,i=4096", "v=***"})
    void shouldRefuseABrokerWhenItDoesNotProveThatItKnowsTheUser(String last) throws Exception {
        challenge(begin().nonce() + "x", ITERATIONS);

        assertThatThrownBy(() -> login.finish(utf8(last)))
                .isInstanceOf(LoginException.class)
                .message()
                .matches("has not proven that it knows the user|sent a malformed message of SCRAM-SHA-256");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "e=unknown-user", "r=,s=AA==,i=4096", "m=x,r=a,s=AA==,i=4096", "r=a,s=AA==,i=0"})
    void shouldRefuseABrokerWhenItsChallengeIsMalformed(String message) throws LoginException {
        begin();

        assertThatThrownBy(() -> login.next(utf8(message)))
                .isInstanceOf(LoginException.class)
                .hasMessageContaining("malformed");
    }

    @Test
    void shouldShowNoPasswordWhenItIsPrinted() {
        assertThat(SaslConfig.plain("ada", PASSWORD.toCharArray()).toString()).doesNotContain(PASSWORD);
    }

    @Test
    void shouldSendTheTokenThatIsInTheFileWhenItLogsIn(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("token"), "first.token\n");
        SaslConfig config = SaslConfig.oauthBearer(file);

        assertThat(new SaslLogin(config).begin()).isEqualTo(utf8("n,,\u0001auth=Bearer first.token\u0001\u0001"));
        Files.writeString(file, "second.token");
        assertThat(new String(new SaslLogin(config).begin(), StandardCharsets.UTF_8))
                .contains("second.token");
        assertThat(config.toString()).doesNotContain("token\n", "first");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a\u0001auth=Bearer b", "a b"})
    void shouldSendNoTokenWhenItIsNotOne(String token) {
        assertThatThrownBy(() -> new SaslLogin(SaslConfig.oauthBearer(() -> token)).begin())
                .isInstanceOf(LoginException.class)
                .hasMessageContaining("got no token");
    }
}
