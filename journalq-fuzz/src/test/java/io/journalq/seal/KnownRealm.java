package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A realm whose private keys are all known here, so that hostile bytes can be signed and encrypted like those of a sender.
 * It has a topic of each mode but subject, and a role for each kind of key. One thread.
 */
final class KnownRealm {
    static final String NAME = "tests";
    static final String SENDER = "billing";
    static final String X25519_ROLE = "readers";
    static final String RSA_ROLE = "auditors";
    static final TopicPartition ORDERS = new TopicPartition("orders", 0);
    static final TopicPartition PRICES = new TopicPartition("prices", 0);
    static final TopicPartition CUSTOMERS = new TopicPartition("customers", 0);
    static final TopicPartition PATIENTS = new TopicPartition("patients", 0);

    /** Files with an RSA key, because to make one takes seconds. */
    private static final String VECTORS = "/jqe1-vectors-2.json";

    private static final Pattern RSA = Pattern.compile("\"rsa(Private|Public)\" : \"([0-9a-f]+)\"");
    private static final long TIME_MS = 1_800_000_000_000L;
    private static final int FRAME_BITS = 16;

    final RawKeyPair root;
    final RawKeyPair sender;
    final RawKeyPair readers = RawKeyPair.ofX25519();
    final RsaRoleKey auditors = rsa();
    final Registry registry;

    /** Has all keys: those of the sender, of both roles, and of tokens. */
    final KeyVault vault = KeyVault.inMemory();

    KnownRealm() {
        TokenKey tokens = TokenKey.random();
        try {
            root = vault.makeRoot();
            sender = vault.makeSender(SENDER);
            vault.addRole(X25519_ROLE, 1, readers);
            vault.addRole(RSA_ROLE, 1, auditors);
            vault.addTokenKey(CUSTOMERS.topic(), tokens);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // The vault has no file.
        }
        List<String> roles = List.of(X25519_ROLE, RSA_ROLE);
        registry = Registry.create(NAME)
                .withSender(SENDER, sender.publicKey(), List.of("*"))
                .withSender("old", RawKeyPair.ofEd25519().publicKey(), List.of(ORDERS.topic(), PRICES.topic()))
                .withoutSender("old", 1_024)
                .withRole(X25519_ROLE, 1, readers.publicKey())
                .withRole(RSA_ROLE, 1, auditors.publicKey())
                .withTopic(ORDERS.topic(), SealMode.BATCH, roles)
                .withTopic(PRICES.topic(), SealMode.RECORD, List.of(X25519_ROLE))
                .withTopic(PATIENTS.topic(), SealMode.SUBJECT, List.of(X25519_ROLE))
                .withTopic("closed", SealMode.BATCH, List.of())
                .withSignatures("closed", true)
                .withTokenTopic(CUSTOMERS.topic(), List.of(X25519_ROLE), tokens.commitment(CUSTOMERS.topic()));
    }

    private static RsaRoleKey rsa() {
        try (InputStream file = KnownRealm.class.getResourceAsStream(VECTORS)) {
            Matcher fields = RSA.matcher(new String(file.readAllBytes(), UTF_8));
            byte[][] keys = new byte[2][];
            while (fields.find()) {
                keys[fields.group(1).equals("Private") ? 0 : 1] = HexFormat.of().parseHex(fields.group(2));
            }
            return RsaRoleKey.of(keys[0], keys[1]);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** A policy that has seen nothing yet. */
    SealPolicy policy(KeyVault keys) {
        return policy(keys, null);
    }

    /** The same, with keys of subjects. */
    SealPolicy policy(KeyVault keys, SubjectKeys subjects) {
        return SealPolicy.builder()
                .realm(NAME)
                .trust(TrustPolicy.pinned(Registry.fingerprint(root.publicKey()), null))
                .vault(keys)
                .subjects(subjects)
                .sender(SENDER)
                .build();
    }

    /** The signed packet of an epoch. */
    byte[] packet(EpochKeys epoch, TopicPartition partition, boolean signsBatches, List<KeyPacket.Reader> roles) {
        return KeyPacket.create(epoch, TIME_MS, TIME_MS + 1, SENDER, NAME, partition.topic(), signsBatches, roles)
                .sign(sender);
    }

    KeyPacket.Reader ofX25519() {
        return new KeyPacket.Reader(X25519_ROLE, 1, readers.publicKey());
    }

    KeyPacket.Reader ofRsa() {
        return new KeyPacket.Reader(RSA_ROLE, 1, auditors.publicKey());
    }

    /** The envelope of a batch. No number may be used twice in an epoch. */
    static Envelope envelope(SealMode mode, EpochKeys epoch, long packetOffset, long number) {
        return new Envelope(mode, FRAME_BITS, epoch.id(), packetOffset, number, 0);
    }

    /** A batch as a sender with good intentions seals it. */
    byte[] sealedBatch(EpochKeys epoch, long packetOffset, boolean signed) {
        ByteBuf plain = plain();
        ByteBuf sealed = SealedBatch.seal(
                plain,
                envelope(SealMode.BATCH, epoch, packetOffset, 0),
                epoch.key(SealMode.BATCH, NAME, ORDERS),
                signed ? sender : null,
                NAME,
                ORDERS);
        plain.release();
        byte[] bytes = ByteBufUtil.getBytes(sealed);
        sealed.release();
        return bytes;
    }

    /** A batch of two records. */
    static ByteBuf plain() {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            for (int i = 0; i < 2; i++) {
                builder.append(
                        TIME_MS + i,
                        ("key-" + i).getBytes(UTF_8),
                        ("value-" + i).getBytes(UTF_8),
                        List.of(new Header("h", null)));
            }
            return builder.build();
        }
    }
}
