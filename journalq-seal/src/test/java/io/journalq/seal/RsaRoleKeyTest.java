package io.journalq.seal;

import static io.journalq.seal.SealedWorld.ORDERS;
import static io.journalq.seal.SealedWorld.ROLE;
import static io.journalq.seal.SealedWorld.SENDER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.record.CompressionCodec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Roles with RSA keys, beside roles with keys of X25519. */
class RsaRoleKeyTest {
    private static final String AUDITORS = "auditors";

    private SealedWorld world;
    private final KeyVault auditorVault = KeyVault.inMemory();

    @BeforeEach
    void begin() throws IOException {
        world = new SealedWorld();
        auditorVault.addRole(AUDITORS, 1, TestRsa.KEY);
        world.admin.change(registry -> registry.withRole(AUDITORS, 1, TestRsa.KEY.publicKey())
                .withTopic(ORDERS.topic(), SealMode.BATCH, List.of(ROLE, AUDITORS)));
    }

    @AfterEach
    void end() {
        world.close();
    }

    private byte[] sealOne() {
        return SealedWorld.seal(world.sealer(), ORDERS, SealedWorld.batch(CompressionCodec.NONE, 1, 5), 0);
    }

    private BatchOpener auditor() {
        return world.policy(auditorVault).build().opener(world.keys);
    }

    @Test
    void shouldBeReadByRolesOfBothKindsOfKeys() {
        byte[] sealed = sealOne();

        assertThat(SealedWorld.open(auditor(), ORDERS, sealed)).hasSize(1);
        assertThat(SealedWorld.open(world.opener(), ORDERS, sealed)).hasSize(1);
        assertThat(new String(world.keys.entries(KeyPacket.TOPIC).get(0).value(), 0, 4, StandardCharsets.US_ASCII))
                .as("programs that know no RSA refuse the packet")
                .isEqualTo("JQK2");
    }

    @Test
    void shouldRefuseAPacketWhenAnyByteIsChanged() {
        byte[] sealed = sealOne();
        List<KeyLog.Entry> packets = world.keys.entries(KeyPacket.TOPIC);
        KeyLog.Entry packet = packets.get(0);

        for (int i = 0; i < packet.value().length; i += 3) {
            byte[] changed = packet.value().clone();
            changed[i] ^= 0x11;
            packets.set(0, new KeyLog.Entry(0, packet.key(), changed));
            BatchOpener auditor = world.openerThatKeepsTheRegistry(auditorVault);
            assertThatThrownBy(() -> SealedWorld.open(auditor, ORDERS, sealed))
                    .as("byte %d", i)
                    .isInstanceOf(SealViolationException.class);
        }
    }

    @Test
    void shouldRefuseASecretThatWasMovedToAnotherPacketOrRole() {
        // given two packets of a sender that works together with the broker
        List<KeyPacket.Reader> readers = List.of(
                new KeyPacket.Reader(AUDITORS, 1, TestRsa.KEY.publicKey()),
                new KeyPacket.Reader(AUDITORS, 2, TestRsa.KEY.publicKey()));
        EpochKeys epoch = EpochKeys.random();
        KeyPacket one = KeyPacket.create(epoch, 0, 1, SENDER, SealedWorld.REALM, "orders", false, readers);
        KeyPacket other = KeyPacket.create(epoch, 0, 1, SENDER, SealedWorld.REALM, "prices", false, readers);

        // then
        assertThat(one.open(one.recipients().get(0), TestRsa.KEY).secret()).isEqualTo(epoch.secret());
        KeyPacket.Recipient wrongRole = new KeyPacket.Recipient(
                AUDITORS, 1, new byte[0], one.recipients().get(1).sealedSecret());
        for (KeyPacket.Recipient moved : List.of(other.recipients().get(0), wrongRole)) {
            assertThatThrownBy(() -> one.open(moved, TestRsa.KEY))
                    .isInstanceOf(SealFault.class)
                    .hasMessageContaining("cannot be opened with the key of role auditors");
        }
        assertThatThrownBy(() -> one.open(one.recipients().get(0), RawKeyPair.ofX25519()))
                .isInstanceOf(SealFault.class);
    }

    @Test
    void shouldRefuseWeakKeysEverywhere() throws Exception {
        KeyStore store = KeyStore.getInstance(
                Path.of("src", "test", "resources", "weak.p12").toFile(), "correct horse battery staple".toCharArray());
        byte[] shortKey = store.getCertificate("role/readers/1").getPublicKey().getEncoded();
        Registry registry = world.admin.registry();

        assertThatThrownBy(() -> registry.withRole("weak", 1, shortKey))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("an RSA key must have 3072 to 8192 bits; this one has 2048");
        assertThatThrownBy(() -> RsaRoleKey.remote(shortKey, ciphertext -> ciphertext))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RsaRoleKey.encrypt(shortKey, new byte[1]))
                .isInstanceOf(IllegalArgumentException.class);
        byte[] ofEd25519 = KeyPairGenerator.getInstance("Ed25519")
                .generateKeyPair()
                .getPublic()
                .getEncoded();
        for (byte[] malformed : List.of(new byte[0], new byte[33], ofEd25519)) {
            assertThatThrownBy(() -> registry.withRole("weak", 1, malformed))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("SubjectPublicKeyInfo");
        }
        // and a registry that a root key has signed nevertheless
        String text = registry + "role weak 1 " + Base64.getEncoder().encodeToString(shortKey) + "\n";
        RawKeyPair root = world.adminVault.root();
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        byte[] record = new FieldWriter()
                .bytes("JQR1".getBytes(StandardCharsets.US_ASCII))
                .bytes(root.publicKey())
                .bytes(root.sign("JQE1 registry\0".getBytes(StandardCharsets.US_ASCII), bytes))
                .bytes(bytes)
                .done();
        assertThat(Registry.decode(record)).isNull();
        assertThat(Registry.decode(registry.sign(root))).isNotNull();
    }

    @Test
    void shouldFailWithoutARecordWhenARemoteKeyCannotBeUsed() throws Exception {
        byte[] sealed = sealOne();
        KeyPacket packet =
                KeyPacket.decode(world.keys.entries(KeyPacket.TOPIC).get(0).value());
        KeyPacket.Recipient recipient = packet.recipients().get(1);
        RsaRoleKey lost = RsaRoleKey.remote(TestRsa.KEY.publicKey(), ciphertext -> {
            throw new IOException("no response within 10 s");
        });

        assertThatThrownBy(() -> packet.open(recipient, lost))
                .isInstanceOf(SealingException.class)
                .hasMessage("the key of role auditors, generation 1, cannot be used: no response within 10 s");
        RsaRoleKey wrong = RsaRoleKey.remote(TestRsa.KEY.publicKey(), ciphertext -> new byte[7]);
        assertThatThrownBy(() -> packet.open(recipient, wrong)).isInstanceOf(SealFault.class);
        assertThatThrownBy(() -> auditorVault.addRole("remote", 1, lost)).isInstanceOf(IOException.class);
        SealViolationException refused = catchThrowableOfType(
                SealViolationException.class,
                () -> SealedWorld.open(world.policy(KeyVault.inMemory()).build().opener(world.keys), ORDERS, sealed));
        assertThat(refused.reason()).isEqualTo(Reason.NO_KEY);
    }
}
