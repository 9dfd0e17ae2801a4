package io.journalq.seal;

import static io.journalq.seal.SealedWorld.ORDERS;
import static io.journalq.seal.SealedWorld.ROLE;
import static io.journalq.seal.SealedWorld.SENDER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.BatchSealer;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.record.CompressionCodec;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who can send and read: the rights in the registry, and packets that a hostile broker has changed. */
class KeyPacketTest {
    private SealedWorld world;

    @BeforeEach
    void begin() throws Exception {
        world = new SealedWorld();
    }

    @AfterEach
    void end() {
        world.close();
    }

    private static byte[] sealOne(BatchSealer sealer, long offset) {
        return SealedWorld.seal(sealer, ORDERS, SealedWorld.batch(CompressionCodec.NONE, 1, 5), offset);
    }

    private Reason refusal(BatchOpener opener, byte[] sealed) {
        Throwable thrown = catchThrowable(() -> SealedWorld.open(opener, ORDERS, sealed));
        assertThat(thrown).isInstanceOf(SealViolationException.class);
        return ((SealViolationException) thrown).reason();
    }

    @Test
    void shouldRefuseAPacketWhenAnyByteIsChanged() {
        byte[] sealed = sealOne(world.sealer(), 0);
        List<KeyLog.Entry> packets = world.keys.entries(KeyPacket.TOPIC);
        KeyLog.Entry packet = packets.get(0);
        BatchOpener opener = world.openerThatKeepsTheRegistry(world.readerVault);

        for (int i = 0; i < packet.value().length; i++) {
            byte[] changed = packet.value().clone();
            changed[i] ^= 0x11;
            packets.set(0, new KeyLog.Entry(0, packet.key(), changed));
            assertThat(refusal(opener, sealed)).as("byte %d", i).isIn((Object[]) Reason.values());
        }
        packets.set(0, packet);
        assertThat(SealedWorld.open(opener, ORDERS, sealed)).hasSize(1);
    }

    @Test
    void shouldRefuseAPacketWhenAStrangerHasSignedIt() {
        // given a stranger who knows all public keys and names itself as the sender
        EpochKeys epoch = EpochKeys.random();
        Registry registry = world.admin.registry();
        KeyPacket forged = KeyPacket.create(
                epoch,
                0,
                Long.MAX_VALUE,
                SENDER,
                SealedWorld.REALM,
                ORDERS.topic(),
                false,
                List.of(new KeyPacket.Reader(ROLE, 1, registry.role(ROLE).publicKey())));
        long offset =
                world.keys.append(KeyPacket.TOPIC, EpochKeys.bytes(epoch.id()), forged.sign(RawKeyPair.ofEd25519()));
        Envelope envelope = new Envelope(SealMode.BATCH, 16, epoch.id(), offset, 0, 0);
        var batch = SealedBatch.seal(
                SealedWorld.batch(CompressionCodec.NONE, 1, 5),
                envelope,
                epoch.key(SealMode.BATCH, SealedWorld.REALM, ORDERS),
                null,
                SealedWorld.REALM,
                ORDERS);

        assertThat(refusal(world.opener(), io.netty.buffer.ByteBufUtil.getBytes(batch)))
                .isEqualTo(Reason.UNKNOWN_SENDER);
    }

    @Test
    void shouldRefuseToReadWhenTheConsumerHasNoKeyOfARecipient() {
        byte[] sealed = sealOne(world.sealer(), 0);
        BatchOpener stranger = world.policy(KeyVault.inMemory()).build().opener(world.keys);

        assertThat(refusal(stranger, sealed)).isEqualTo(Reason.NO_KEY);
    }

    @Test
    void shouldRefuseToReadWhenThePacketIsMissing() {
        byte[] sealed = sealOne(world.sealer(), 0);
        world.keys.entries(KeyPacket.TOPIC).clear();

        assertThat(refusal(world.opener(), sealed)).isEqualTo(Reason.UNKNOWN_SENDER);
    }

    @Test
    void shouldRefuseToSendWhenATopicHasNoRecipients() {
        BatchSealer sealer = world.sealer();

        assertThatThrownBy(() -> sealer.prepare("unknown"))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("nobody may read topic unknown");
        assertThat(world.keys.entries(KeyPacket.TOPIC)).isEmpty();
    }

    @Test
    void shouldMakeANewEpochForTheRemainingReadersWhenARoleIsRotated() throws Exception {
        // given
        BatchSealer sealer = world.sealer();
        byte[] before = sealOne(sealer, 0);
        KeyVault remaining = KeyVault.inMemory();
        remaining.addRole(ROLE, 1, world.readerVault.role(ROLE, 1));
        byte[] second = remaining.makeRole(ROLE, 2).publicKey();

        // when
        world.admin.change(registry -> registry.withRole(ROLE, 2, second));
        byte[] after = sealOne(sealer, 1);

        // then
        BatchOpener reader = world.policy(remaining).build().opener(world.keys);
        assertThat(SealedWorld.open(reader, ORDERS, before)).hasSize(1);
        assertThat(SealedWorld.open(reader, ORDERS, after)).hasSize(1);
        BatchOpener removed = world.opener();
        assertThat(SealedWorld.open(removed, ORDERS, before)).hasSize(1);
        assertThat(refusal(removed, after)).isEqualTo(Reason.NO_KEY);
    }

    @Test
    void shouldReadOldBatchesButRefuseNewEpochsWhenASenderIsRevoked() {
        BatchSealer sealer = world.sealer();
        byte[] before = sealOne(sealer, 0);

        world.admin.revokeSender(SENDER);

        assertThat(SealedWorld.open(world.opener(), ORDERS, before)).hasSize(1);
        assertThatThrownBy(() -> sealer.prepare(ORDERS.topic()))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("may not send");
        // and an epoch that the revoked sender publishes nevertheless
        EpochKeys epoch = EpochKeys.random();
        KeyPacket packet = KeyPacket.create(
                epoch,
                0,
                Long.MAX_VALUE,
                SENDER,
                SealedWorld.REALM,
                ORDERS.topic(),
                false,
                List.of(new KeyPacket.Reader(
                        ROLE, 1, world.admin.registry().role(ROLE).publicKey())));
        long offset = world.keys.append(
                KeyPacket.TOPIC, EpochKeys.bytes(epoch.id()), packet.sign(world.senderVault.sender(SENDER)));
        var late = SealedBatch.seal(
                SealedWorld.batch(CompressionCodec.NONE, 1, 5),
                new Envelope(SealMode.BATCH, 16, epoch.id(), offset, 0, 0),
                epoch.key(SealMode.BATCH, SealedWorld.REALM, ORDERS),
                null,
                SealedWorld.REALM,
                ORDERS);
        assertThat(refusal(world.opener(), io.netty.buffer.ByteBufUtil.getBytes(late)))
                .isEqualTo(Reason.UNKNOWN_SENDER);
    }

    @Test
    void shouldRefuseASecretWhenItIsNotTheOneThePacketCommitsTo() {
        RoleKey reader = world.readerVault.role(ROLE, 1);
        List<KeyPacket.Reader> roles = List.of(new KeyPacket.Reader(ROLE, 1, reader.publicKey()));
        EpochKeys one = EpochKeys.random();
        EpochKeys other = new EpochKeys(one.id(), EpochKeys.random().secret());
        KeyPacket packet = KeyPacket.create(one, 0, 1, SENDER, SealedWorld.REALM, "orders", false, roles);
        KeyPacket mixed = new KeyPacket(
                one.id(), 0, 1, other.commitment(), SENDER, SealedWorld.REALM, "orders", false, packet.recipients());

        assertThatThrownBy(() -> mixed.open(mixed.recipients().get(0), reader)).isInstanceOf(SealFault.class);
    }

    @Test
    void shouldHaveOneEncodingOnly() {
        RawKeyPair sender = RawKeyPair.ofEd25519();
        List<KeyPacket.Reader> roles = List.of(
                new KeyPacket.Reader(ROLE, 1, world.readerVault.role(ROLE, 1).publicKey()));
        KeyPacket packet =
                KeyPacket.create(EpochKeys.random(), 0, 1, SENDER, SealedWorld.REALM, "orders", false, roles);
        byte[] encoded = packet.sign(sender);
        assertThat(KeyPacket.decode(encoded).sign(sender)).isEqualTo(encoded);

        // the form for RSA, with a key of X25519
        int kindAt = packet.sign(sender).length
                - RawKeyPair.SIGNATURE_SIZE_BYTES
                - packet.recipients().get(0).sealedSecret().length
                - packet.recipients().get(0).encapsulation().length;
        byte[] asRsa = new FieldWriter()
                .bytes("JQK2".getBytes(StandardCharsets.US_ASCII))
                .bytes(Arrays.copyOfRange(encoded, 4, kindAt))
                .number8(1)
                .bytes(Arrays.copyOfRange(encoded, kindAt, encoded.length))
                .done();
        assertThatThrownBy(() -> KeyPacket.decode(asRsa))
                .isInstanceOf(SealFault.class)
                .hasMessage("a key packet that states kinds of recipients without an RSA key");

        // the name of the sender, which follows its length, is not UTF-8
        byte[] malformed = encoded.clone();
        malformed[new String(encoded, StandardCharsets.ISO_8859_1).indexOf(SENDER)] = (byte) 0xFF;
        assertThatThrownBy(() -> KeyPacket.decode(malformed))
                .isInstanceOf(SealFault.class)
                .hasMessage("a text that is not UTF-8");
    }
}
