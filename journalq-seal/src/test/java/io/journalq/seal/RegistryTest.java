package io.journalq.seal;

import static io.journalq.seal.SealedWorld.SENDER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Changes of the registry that would make valid what was refused, or the reverse. */
class RegistryTest {
    private SealedWorld world;

    @BeforeEach
    void begin() throws Exception {
        world = new SealedWorld();
    }

    @AfterEach
    void end() {
        world.close();
    }

    @Test
    void shouldKeepARevocationWhenTheSenderIsRegisteredAgain() {
        byte[] key = world.senderVault.sender(SENDER).publicKey();
        long from = world.admin.revokeSender(SENDER).sender(SENDER).revokedFrom();

        assertThatThrownBy(() -> world.admin.change(registry -> registry.withSender(SENDER, key, List.of("*"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sender billing was revoked");
        assertThat(world.admin.registry().sender(SENDER).revokedFrom()).isEqualTo(from);
    }

    @Test
    void shouldRefuseWhatARevokedSenderHasPublishedWhenItIsRevokedAgain() {
        long from = world.admin.revokeSender(SENDER).sender(SENDER).revokedFrom();
        world.keys.append(KeyPacket.TOPIC, new byte[] {1}, new byte[] {2});

        Registry again = world.admin.revokeSender(SENDER);

        assertThat(again.sender(SENDER).mayHaveSent("orders", from)).isFalse();
    }

    @Test
    void shouldKeepTheKeyByWhichOldDataIsCheckedWhenTheSenderIsRegisteredAgain() {
        byte[] key = world.senderVault.sender(SENDER).publicKey();

        assertThatThrownBy(() -> world.admin.change(registry ->
                        registry.withSender(SENDER, RawKeyPair.ofEd25519().publicKey(), List.of("*"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sender billing has another key");
        assertThat(world.admin.registry().sender(SENDER).publicKey()).isEqualTo(key);
        Registry narrowed = world.admin.change(registry -> registry.withSender(SENDER, key, List.of("orders")));
        assertThat(narrowed.sender(SENDER).topics()).containsExactly("orders");
    }
}
