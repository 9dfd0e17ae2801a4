package io.journalq.server.security.sasl;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.metadata.security.ScramImage;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ScramUsersTest {
    private static final int NAMES = 200;

    private ScramImage image = ScramImage.NONE;
    private final ScramUsers users = new ScramUsers(() -> image, new byte[32]);

    private void add(String user, ScramMechanism mechanism) {
        byte[] key = new byte[mechanism.hashSizeBytes()];
        image = image.with(user, new ScramCredential(mechanism, new byte[16], 4_096, key, key));
    }

    private Set<ScramMechanism> ofUnknownUsers() {
        return IntStream.range(0, NAMES)
                .mapToObj(number -> users.passwordMechanism("unknown-" + number))
                .collect(Collectors.toSet());
    }

    @Test
    void shouldCheckUnknownUsersWithTheMechanismThatAllOthersHave() {
        add("ann", ScramMechanism.SCRAM_SHA_512);
        add("bob", ScramMechanism.SCRAM_SHA_512);

        assertThat(ofUnknownUsers()).containsExactly(ScramMechanism.SCRAM_SHA_512);
    }

    @Test
    void shouldCheckUnknownUsersWithEachMechanismThatOthersHave() {
        add("ann", ScramMechanism.SCRAM_SHA_512);
        add("bob", ScramMechanism.SCRAM_SHA_256);

        assertThat(ofUnknownUsers())
                .containsExactlyInAnyOrder(ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512);
    }

    @Test
    void shouldCheckAUserWithItsOwnMechanism() {
        add("ann", ScramMechanism.SCRAM_SHA_512);
        add("bob", ScramMechanism.SCRAM_SHA_256);
        add("both", ScramMechanism.SCRAM_SHA_512);
        add("both", ScramMechanism.SCRAM_SHA_256);

        assertThat(users.passwordMechanism("ann")).isEqualTo(ScramMechanism.SCRAM_SHA_512);
        assertThat(users.passwordMechanism("bob")).isEqualTo(ScramMechanism.SCRAM_SHA_256);
        assertThat(users.passwordMechanism("both")).isEqualTo(ScramMechanism.SCRAM_SHA_256);
    }
}
