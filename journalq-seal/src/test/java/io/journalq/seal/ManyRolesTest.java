package io.journalq.seal;

import static io.journalq.seal.SealedWorld.ORDERS;
import static io.journalq.seal.SealedWorld.ROLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchOpener;
import io.journalq.common.record.CompressionCodec;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A consumer whose roles have their keys in services that are away, or no longer decrypt. */
class ManyRolesTest {
    /** Before {@link SealedWorld#ROLE} in each packet. */
    private static final String AUDITORS = "auditors";

    private static final List<String> ROLES = List.of(AUDITORS, ROLE);

    private final Map<String, RoleKeySource> sources = new HashMap<>();
    private SealedWorld world;
    private BatchOpener opener;
    private byte[] sealed;

    @BeforeEach
    void begin() throws IOException {
        world = new SealedWorld();
        world.admin.change(registry -> registry.withRole(AUDITORS, 1, TestRsa.KEY.publicKey())
                .withTopic(ORDERS.topic(), SealMode.BATCH, ROLES));
        sealed = SealedWorld.seal(world.sealer(), ORDERS, SealedWorld.batch(CompressionCodec.NONE, 1, 5), 0);
        opener = world.policy(KeyVault.inMemory())
                .roleKeys((role, generation) -> sources.get(role).find(role, generation))
                .build()
                .opener(world.keys);
        responds(AUDITORS, TestRsa.KEY);
        responds(ROLE, world.readerVault.role(ROLE, 1));
    }

    @AfterEach
    void end() {
        opener.close();
        world.close();
    }

    private void responds(String named, RoleKey key) {
        sources.put(named, (role, generation) -> key);
    }

    private void isAway(String named) {
        sources.put(named, (role, generation) -> {
            throw new IOException("the service of " + role + " is away");
        });
    }

    private void isDestroyed(String named) {
        sources.put(named, (role, generation) -> {
            throw new DestroyedKeyException("the key of " + role + " is destroyed");
        });
    }

    private void opens() {
        assertThat(SealedWorld.open(opener, ORDERS, sealed)).hasSize(1);
    }

    private Reason refusal() {
        Throwable refused = catchThrowable(() -> SealedWorld.open(opener, ORDERS, sealed));
        assertThat(refused).isInstanceOf(SealViolationException.class);
        return ((SealViolationException) refused).reason();
    }

    @Test
    void shouldOpenByAnotherRoleWhenTheServiceOfTheFirstIsAway() {
        assertThat(KeyPacket.decode(world.keys.entries(KeyPacket.TOPIC).get(0).value())
                        .recipients())
                .extracting(KeyPacket.Recipient::role)
                .containsExactlyElementsOf(ROLES);
        isAway(AUDITORS);

        opens();
    }

    @Test
    void shouldOpenByAnotherRoleWhenTheServiceOfTheFirstDoesNotDecrypt() {
        responds(AUDITORS, RsaRoleKey.remote(TestRsa.KEY.publicKey(), ciphertext -> {
            throw new IOException("the service is away");
        }));

        opens();
    }

    @Test
    void shouldOpenByAnotherRoleWhenTheKeyOfTheFirstIsDestroyed() {
        isDestroyed(AUDITORS);

        opens();
    }

    @Test
    void shouldFailWithoutARecordUntilOneOfTheServicesResponds() {
        isAway(AUDITORS);
        isAway(ROLE);

        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> SealedWorld.open(opener, ORDERS, sealed))
                    .isInstanceOf(SealingException.class)
                    .hasMessage(
                            "the key of role auditors, generation 1, cannot be used: the service of auditors is away");
        }

        responds(AUDITORS, TestRsa.KEY);
        opens();
    }

    /** The service that is away may open the batch later, so that a consumer must not take it for lost. */
    @Test
    void shouldNotReportAKeyAsMissingWhileTheServiceOfAnotherIsAway() {
        isDestroyed(AUDITORS);
        isAway(ROLE);
        assertThatThrownBy(() -> SealedWorld.open(opener, ORDERS, sealed))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("role " + ROLE);

        isAway(AUDITORS);
        isDestroyed(ROLE);
        assertThatThrownBy(() -> SealedWorld.open(opener, ORDERS, sealed))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("role " + AUDITORS);

        isDestroyed(AUDITORS);
        assertThat(refusal()).isEqualTo(Reason.NO_KEY);
    }

    /** Who gives out another secret than the packet commits to is not merely away. */
    @Test
    void shouldRefuseTheBatchWhenTheServiceOfTheFirstReturnsAnotherSecret() {
        responds(AUDITORS, RsaRoleKey.remote(TestRsa.KEY.publicKey(), ciphertext -> {
            byte[] message = TestRsa.KEY.decrypt(ciphertext);
            message[0] ^= 1;
            return message;
        }));

        assertThat(refusal()).isEqualTo(Reason.WRONG_TAG);
    }
}
