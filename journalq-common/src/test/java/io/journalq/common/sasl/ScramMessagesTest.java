package io.journalq.common.sasl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.sasl.ScramMessages.ClientFinal;
import io.journalq.common.sasl.ScramMessages.ClientFirst;
import io.journalq.common.sasl.ScramMessages.ServerFirst;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScramMessagesTest {
    @ParameterizedTest
    @ValueSource(strings = {"ada", "a,b=c", "=2C", "=3D2C", "Ädä", "User:ada, of Example"})
    void shouldReadBackTheNameThatWasWritten(String user) {
        ClientFirst first = ClientFirst.parse(ClientFirst.of(user, "nonce").text());

        assertThat(first.user()).isEqualTo(user);
        assertThat(first.nonce()).isEqualTo("nonce");
        assertThat(first.authorizationId()).isNull();
    }

    @Test
    void shouldReadTheAuthorizationIdAndIgnoreExtensions() {
        ClientFirst first = ClientFirst.parse("y,a=bob,n=ada,r=n0nce,x=1,tokenauth=true");

        assertThat(first.authorizationId()).isEqualTo("bob");
        assertThat(first.gs2Header()).isEqualTo("y,a=bob,");
        assertThat(first.bare()).isEqualTo("n=ada,r=n0nce,x=1,tokenauth=true");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "n,,",
                "n=ada,r=nonce",
                "p=tls-unique,,n=ada,r=nonce",
                "n,,m=mandatory,n=ada,r=nonce",
                "n,,n=,r=nonce",
                "n,,n=a=b,r=nonce",
                "n,,n=ada,r=",
                "n,,n=ada,r=no nce",
                "n,,r=nonce,n=ada",
                "n,,n=ada\u0000,r=nonce",
            })
    void shouldRefuseAFirstMessageWithoutShowingItWhenItIsMalformed(String text) {
        assertThatThrownBy(() -> ClientFirst.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("not the expected message of SCRAM");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"c=biws,r=nonce", "r=nonce,p=AAAA", "c=biws,r=nonce,p=A", "c=biws,r=nonce,p=", "c=!,r=n,p=AAAA"})
    void shouldRefuseAFinalMessageWhenItIsMalformed(String text) {
        assertThatThrownBy(() -> ClientFinal.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "r=nonce,s=AAAA",
                "r=nonce,s=AAAA,i=0",
                "r=nonce,s=AAAA,i=-1",
                "r=nonce,s=AAAA,i=99999999999",
                "m=x,r=nonce,s=AAAA,i=4096",
                "r=nonce,s=A,i=4096"
            })
    void shouldRefuseAChallengeWhenItIsMalformed(String text) {
        assertThatThrownBy(() -> ServerFirst.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldReadTheSignatureOrTheErrorOfTheServer() {
        assertThat(ScramMessages.parseServerFinal("v=AAAA")).hasSize(3);
        assertThat(ScramMessages.parseServerFinal("e=invalid-proof")).isNull();
        assertThatThrownBy(() -> ScramMessages.parseServerFinal("v=")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldNeedLittleStackWhenAMessageIsAsLongAsPossible() {
        String name = "a".repeat(ScramMessages.MAX_LENGTH - 20);
        String extensions = ",x=1".repeat((ScramMessages.MAX_LENGTH - 20) / 4);

        assertThat(ClientFirst.parse("n,,n=" + name + ",r=n").user()).isEqualTo(name);
        assertThat(ClientFirst.parse("n,,n=a,r=n" + extensions).nonce()).isEqualTo("n");
        assertThatThrownBy(() -> ClientFirst.parse("n,,n=" + name + name + ",r=n"))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
