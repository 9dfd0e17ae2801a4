package io.journalq.seal;

import static io.journalq.seal.SealedWorld.ORDERS;
import static io.journalq.seal.SealedWorld.PRICES;
import static io.journalq.seal.SealedWorld.REALM;
import static io.journalq.seal.SealedWorld.ROLE;
import static io.journalq.seal.SealedWorld.SENDER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.BatchSealer;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Topics whose senders sign each batch, so that readers cannot make any. */
class SignedBatchTest {
    private SealedWorld world;

    @BeforeEach
    void begin() throws IOException {
        world = new SealedWorld();
        world.admin.change(registry -> registry.withSignatures(ORDERS.topic(), true));
    }

    @AfterEach
    void end() {
        world.close();
    }

    private static byte[] seal(BatchSealer sealer, long baseOffset) {
        return SealedWorld.seal(sealer, ORDERS, SealedWorld.batch(CompressionCodec.LZ4, 3, 100), baseOffset);
    }

    private KeyPacket packet(int offset) {
        return KeyPacket.decode(world.keys.entries(KeyPacket.TOPIC).get(offset).value());
    }

    private static Envelope envelope(byte[] sealed) {
        try (BatchReader reader = new BatchReader(ByteBufAllocator.DEFAULT)) {
            reader.reset(Unpooled.wrappedBuffer(sealed));
            reader.nextBatch();
            reader.next();
            return Envelope.decode(SealedBatch.find(reader.headers()));
        }
    }

    /** A batch that somebody makes who has the secret of an epoch. */
    private static byte[] forge(EpochKeys secret, Envelope like, long number, RawKeyPair signer) {
        Envelope envelope =
                new Envelope(SealMode.BATCH, like.frameBits(), like.epoch(), like.packetOffset(), number, 0);
        ByteBuf plain = SealedWorld.batch(CompressionCodec.NONE, 1, 5);
        ByteBuf sealed =
                SealedBatch.seal(plain, envelope, secret.key(SealMode.BATCH, REALM, ORDERS), signer, REALM, ORDERS);
        RecordBatch.setBaseOffset(sealed, 0, number);
        byte[] bytes = ByteBufUtil.getBytes(sealed);
        plain.release();
        sealed.release();
        return bytes;
    }

    private static Reason refusal(BatchOpener opener, byte[] sealed) {
        Throwable thrown = catchThrowable(() -> SealedWorld.open(opener, ORDERS, sealed));
        assertThat(thrown).isInstanceOf(SealViolationException.class);
        return ((SealViolationException) thrown).reason();
    }

    @Test
    void shouldRefuseABatchThatAReaderHasMade() {
        // given
        byte[] genuine = seal(world.sealer(), 0);
        Envelope envelope = envelope(genuine);
        BatchOpener opener = world.opener();
        assertThat(SealedWorld.open(opener, ORDERS, genuine)).hasSize(3);

        // when a reader, who has the secret of the epoch, works together with the broker
        KeyPacket packet = packet(0);
        EpochKeys secret = packet.open(packet.recipients().get(0), world.readerVault.role(ROLE, 1));
        byte[] unsigned = forge(secret, envelope, 1, null);
        byte[] signedByAReader = forge(secret, envelope, 2, RawKeyPair.ofEd25519());
        byte[] byTheSender = forge(secret, envelope, 3, world.senderVault.sender(SENDER));

        // then
        assertThat(refusal(opener, unsigned)).isIn(Reason.WRONG_SIGNATURE, Reason.WRONG_TAG);
        assertThat(refusal(opener, signedByAReader)).isEqualTo(Reason.WRONG_SIGNATURE);
        assertThat(SealedWorld.open(opener, ORDERS, byTheSender)).hasSize(1);
    }

    @Test
    void shouldAcceptTheBatchOfAReaderWithoutSignatures() {
        world.admin.change(registry -> registry.withSignatures(ORDERS.topic(), false));
        byte[] genuine = seal(world.sealer(), 0);
        KeyPacket packet = packet(0);
        EpochKeys secret = packet.open(packet.recipients().get(0), world.readerVault.role(ROLE, 1));

        byte[] forged = forge(secret, envelope(genuine), 1, null);

        assertThat(SealedWorld.open(world.opener(), ORDERS, forged))
                .as("what the option prevents, so that the other tests mean something")
                .hasSize(1);
    }

    @Test
    void shouldRefuseEachChangedByteOfASignedBatch() {
        byte[] sealed = SealedWorld.seal(world.sealer(), ORDERS, SealedWorld.batch(CompressionCodec.NONE, 1, 5), 0);
        BatchOpener opener = world.openerThatKeepsTheRegistry(world.readerVault);
        // The headers of the batch and of the record are the subject of other tests.
        int first = new String(sealed, StandardCharsets.ISO_8859_1).indexOf("JQE1");

        for (int i = first; i < sealed.length; i++) {
            byte[] changed = sealed.clone();
            changed[i] ^= 0x11;
            assertThat(refusal(opener, changed)).as("byte %d", i).isIn((Object[]) Reason.values());
        }
        assertThat(SealedWorld.open(opener, ORDERS, sealed)).hasSize(1);
    }

    @Test
    void shouldBeginANewEpochWhenSignaturesBeginOrEnd() {
        BatchSealer sealer = world.sealer();
        byte[] signed = seal(sealer, 0);
        world.admin.change(registry -> registry.withSignatures(ORDERS.topic(), false));
        byte[] unsigned = seal(sealer, 3);
        world.admin.change(registry -> registry.withSignatures(ORDERS.topic(), true));
        byte[] again = seal(sealer, 6);

        assertThat(List.of(packet(0), packet(1), packet(2)))
                .extracting(KeyPacket::signsBatches)
                .containsExactly(true, false, true);
        BatchOpener opener = world.opener();
        for (byte[] batch : List.of(signed, unsigned, again)) {
            assertThat(SealedWorld.open(opener, ORDERS, batch)).hasSize(3);
        }
    }

    @Test
    void shouldRefuseAPacketWhoseSignaturesABrokerHasRemoved() {
        byte[] sealed = seal(world.sealer(), 0);
        KeyLog.Entry entry = world.keys.entries(KeyPacket.TOPIC).get(0);
        byte[] changed = entry.value().clone();
        changed[3] = '2';
        world.keys.entries(KeyPacket.TOPIC).set(0, new KeyLog.Entry(0, entry.key(), changed));

        assertThat(refusal(world.opener(), sealed)).isIn(Reason.MALFORMED, Reason.UNKNOWN_SENDER);
    }

    @Test
    void shouldBeStatedByTheRegistryForTopicsOfModeBatchOnly() {
        Registry registry = world.admin.registry();

        assertThat(registry.toString()).contains("topic orders batch readers signed\n");
        assertThat(registry.topic(ORDERS.topic()).isSigned()).isTrue();
        assertThat(registry.withTopic(ORDERS.topic(), SealMode.BATCH, List.of())
                        .topic(ORDERS.topic())
                        .isSigned())
                .isTrue();
        assertThatThrownBy(() -> registry.withSignatures(PRICES.topic(), true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "the mode of topic prices is record, and only topics of mode batch can have signed batches");
        assertThatThrownBy(() -> registry.withSignatures("unknown", true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("there is no sealed topic unknown");
    }
}
