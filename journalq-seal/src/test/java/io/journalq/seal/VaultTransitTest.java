package io.journalq.seal;

import static io.journalq.seal.FakeVault.ROLE;
import static io.journalq.seal.SealedWorld.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchOpener;
import io.journalq.common.record.CompressionCodec;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys in the Transit engine of Vault, against a server that speaks its API, and its faults. */
class VaultTransitTest {
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final Duration SHORT = Duration.ofMillis(300);

    @TempDir
    private Path directory;

    private SealedWorld world;
    private FakeVault vault;
    private Path token;

    @BeforeEach
    void begin() throws IOException {
        world = new SealedWorld();
        world.admin.change(registry -> registry.withRole(ROLE, 1, TestRsa.KEY.publicKey())
                .withTopic(ORDERS.topic(), SealMode.BATCH, List.of(ROLE)));
        vault = new FakeVault(TestRsa.KEY);
        token = Files.writeString(directory.resolve("token"), FakeVault.TOKEN + "\n");
    }

    @AfterEach
    void end() {
        vault.close();
        world.close();
    }

    private VaultTransit transit(Duration timeout) {
        return VaultTransit.builder(vault.address())
                .tokenFile(token)
                .roles(List.of(ROLE))
                .timeout(timeout)
                .build();
    }

    private BatchOpener opener(VaultTransit transit) {
        return world.policy(KeyVault.inMemory()).roleKeys(transit).build().opener(world.keys);
    }

    private byte[] sealOne() {
        return SealedWorld.seal(world.sealer(), ORDERS, SealedWorld.batch(CompressionCodec.NONE, 1, 5), 0);
    }

    @Test
    void shouldOpenBatchesByAKeyThatNeverLeavesVault() throws Exception {
        byte[] sealed = sealOne();
        BatchOpener opener = opener(transit(LONG));

        for (int i = 0; i < 3; i++) {
            assertThat(SealedWorld.open(opener, ORDERS, sealed)).hasSize(1);
        }

        assertThat(vault.requests)
                .as("Vault is asked once for each epoch")
                .containsExactly("GET /v1/transit/keys/auditors", "POST /v1/transit/decrypt/auditors");
        assertThat(transit(LONG).find(ROLE, 1).publicKey()).isEqualTo(TestRsa.KEY.publicKey());
        assertThat(transit(LONG).find("others", 1)).isNull();
    }

    @Test
    void shouldAskAgainWhenAResponseIsLostOrVaultIsBusy() throws Exception {
        byte[] sealed = sealOne();
        VaultTransit transit = transit(LONG);
        transit.find(ROLE, 1);
        vault.requests.clear();

        for (FakeKeyService.Fault fault : List.of(
                FakeVault.lost(),
                FakeVault.status(503, "Vault is sealed"),
                FakeVault.status(429, "request path rate limit quota exceeded"),
                FakeKeyService.huge())) {
            vault.faults.add(fault);
            assertThat(SealedWorld.open(opener(transit), ORDERS, sealed)).hasSize(1);
        }

        assertThat(vault.requests).hasSize(8);
    }

    @Test
    void shouldFailWithoutARecordAndReadOnWhenVaultRespondsAgain() throws Exception {
        // given
        byte[] sealed = sealOne();
        VaultTransit transit = transit(LONG);
        transit.find(ROLE, 1);
        BatchOpener opener = opener(transit);
        for (int i = 0; i < VaultTransit.MAX_ATTEMPTS; i++) {
            vault.faults.add(FakeVault.status(503, "Vault is sealed"));
        }

        // when
        assertThatThrownBy(() -> SealedWorld.open(opener, ORDERS, sealed))
                .isInstanceOf(SealingException.class)
                .hasMessage("the key of role auditors, generation 1, cannot be used: Vault gave no usable response to 3"
                        + " requests; the last: status 503: \"Vault is sealed\"");

        // then
        assertThat(SealedWorld.open(opener, ORDERS, sealed)).hasSize(1);
    }

    @Test
    void shouldNotWaitForASlowResponse() throws Exception {
        VaultTransit transit = transit(SHORT);
        for (int i = 0; i < VaultTransit.MAX_ATTEMPTS; i++) {
            vault.faults.add(vault.slow());
        }

        assertThatThrownBy(() -> transit.find(ROLE, 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("to " + VaultTransit.MAX_ATTEMPTS + " requests")
                .hasMessageContaining("no response within 300 ms");
    }

    @Test
    void shouldNotAskAgainWhenThatMakesNoSense() throws Exception {
        byte[] sealed = sealOne();
        VaultTransit transit = transit(LONG);
        transit.find(ROLE, 1);
        vault.requests.clear();

        // a version that was destroyed, or another key
        vault.faults.add(FakeVault.status(400, "ciphertext or signature version is disallowed by policy (too old)"));
        Throwable destroyed = catchThrowable(() -> SealedWorld.open(opener(transit), ORDERS, sealed));
        assertThat(destroyed).isInstanceOf(SealViolationException.class);
        assertThat(((SealViolationException) destroyed).reason()).isEqualTo(Reason.NO_KEY);

        // a token without the right
        Files.writeString(token, "hvs.other-canary");
        assertThatThrownBy(() -> SealedWorld.open(opener(transit), ORDERS, sealed))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("Vault refuses the token in " + token + " (status 403: \"permission denied\")")
                .hasMessageNotContaining("canary");

        // a redirect, which would take the token to another server
        vault.faults.add(FakeKeyService.redirect());
        assertThatThrownBy(() -> SealedWorld.open(opener(transit), ORDERS, sealed))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("Vault redirects the request, and nothing secret is sent to another server");
        assertThat(vault.requests).hasSize(3);

        // no key, version or token
        Files.writeString(token, FakeVault.TOKEN);
        assertThatThrownBy(() -> transit.find(ROLE, 2))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the key auditors in Vault has no version 2 with a public key");
        vault.faults.add(FakeVault.status(404, ""));
        assertThatThrownBy(() -> transit(LONG).find(ROLE, 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Vault has no key auditors that this token may read (status 404");
        Files.delete(token);
        assertThatThrownBy(() -> transit(LONG).find(ROLE, 1))
                .isInstanceOf(IOException.class)
                .hasMessage("cannot read the token in " + token);
    }

    /** Vault 1.21 shows no version below the minimum, so that a new consumer never asks it to decrypt. */
    @Test
    void shouldFindNoKeyWhenItsVersionMayNoLongerDecrypt() throws Exception {
        byte[] sealed = sealOne();
        vault.minDecryptionVersion = 2;

        Throwable refused = catchThrowable(() -> SealedWorld.open(opener(transit(LONG)), ORDERS, sealed));

        assertThat(refused)
                .isInstanceOf(SealViolationException.class)
                .hasMessageContaining("the key of role auditors, generation 1, cannot be used any more");
        assertThat(((SealViolationException) refused).reason()).isEqualTo(Reason.NO_KEY);
        assertThat(refused.getCause())
                .hasMessage("Vault no longer decrypts by version 1 of the key auditors, because its"
                        + " min_decryption_version is 2");
        vault.minDecryptionVersion = 1;
        assertThat(SealedWorld.open(opener(transit(LONG)), ORDERS, sealed)).hasSize(1);
    }

    @Test
    void shouldRefuseAWeakKeyAndAnAddressWithoutEncryption() throws Exception {
        String weak = "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC6";
        vault.faults.add(FakeKeyService.response(
                200,
                "{\"data\":{\"keys\":{\"1\":{\"public_key\":\"-----BEGIN PUBLIC KEY-----\\n" + weak
                        + "\\n-----END PUBLIC KEY-----\\n\"}}}}"));
        assertThatThrownBy(() -> transit(LONG).find(ROLE, 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the key auditors in Vault: ");
        assertThatThrownBy(() -> VaultTransit.builder(URI.create("http://192.0.2.1:8200")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the token would be sent to 192.0.2.1 without encryption; use https");
        assertThatThrownBy(() -> VaultTransit.builder(URI.create("ftp://192.0.2.1")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldBeUsedByAPolicyWithoutAKeyring() throws Exception {
        byte[] sealed = sealOne();
        Path file = Files.writeString(
                directory.resolve("auditors.seal"),
                "realm=tests\nroot=" + world.root + "\nvault.address=" + vault.address()
                        + "\nvault.token-file=token\nvault.roles=auditors, others\n");

        BatchOpener opener = SealPolicy.load(file).opener(world.keys);

        assertThat(SealedWorld.open(opener, ORDERS, sealed)).hasSize(1);
        assertThat(directory.resolve("auditors.seal.trust")).exists();
        Files.writeString(file, "realm=tests\nroot=first-use\nvault.address=" + vault.address() + "\n");
        assertThatThrownBy(() -> SealPolicy.load(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("lacks the property vault.token-file");
    }
}
