package io.journalq.seal;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.common.id.Uuid;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The secret of an epoch, encrypted for each role that may read it, and signed by the sender. It is a record in {@link
 * #TOPIC}, whose key is the id of the epoch. Immutable if the arrays are not modified.
 *
 * @param createdMs when the sender made the epoch, in milliseconds since 1970 UTC
 * @param notAfterMs when the sender stops using it
 * @param commitment {@link EpochKeys#commitment()}
 */
@SuppressWarnings("ArrayRecordComponent") // nobody changes the arrays or compares the record
record KeyPacket(
        Uuid epoch,
        long createdMs,
        long notAfterMs,
        byte[] commitment,
        String sender,
        String realm,
        String topic,
        List<Recipient> recipients) {
    /** The compacted topic of key packets. */
    static final String TOPIC = "jqe1.keys";

    /** The maximum number of roles that may read a topic. */
    static final int MAX_RECIPIENTS = 16;

    static final int MAX_SIZE_BYTES = 64 * 1024;

    private static final byte[] MAGIC = "JQK1".getBytes(US_ASCII);
    private static final byte[] SIGNATURE_LABEL = "JQE1 key packet\0".getBytes(US_ASCII);
    private static final int SEALED_SECRET_SIZE_BYTES = EpochKeys.SECRET_SIZE_BYTES + Hpke.TAG_SIZE_BYTES;

    /** The secret for one role. */
    @SuppressWarnings("ArrayRecordComponent") // nobody changes the arrays or compares the record
    record Recipient(String role, int generation, byte[] encapsulation, byte[] sealedSecret) {}

    /** A key of a role, as the registry states it. */
    @SuppressWarnings("ArrayRecordComponent") // nobody changes the arrays or compares the record
    record RoleKey(String role, int generation, byte[] publicKey) {}

    /** Makes the packet of an epoch. */
    static KeyPacket create(
            EpochKeys epoch,
            long createdMs,
            long notAfterMs,
            String sender,
            String realm,
            String topic,
            List<RoleKey> roles) {
        KeyPacket packet =
                new KeyPacket(epoch.id(), createdMs, notAfterMs, epoch.commitment(), sender, realm, topic, List.of());
        byte[] info = packet.header().done();
        List<Recipient> recipients = new ArrayList<>();
        for (RoleKey role : roles) {
            RawKeyPair ephemeral = RawKeyPair.ofX25519();
            try {
                byte[] sealed = Hpke.AES_256_GCM.seal(
                        role.publicKey, ephemeral, info, associated(role.role, role.generation), epoch.secret());
                recipients.add(new Recipient(role.role, role.generation, ephemeral.publicKey(), sealed));
            } catch (GeneralSecurityException invalid) {
                throw new IllegalArgumentException(
                        "the key of role " + role.role + " is not valid: " + invalid.getMessage(), invalid);
            }
        }
        return new KeyPacket(packet.epoch, createdMs, notAfterMs, packet.commitment, sender, realm, topic, recipients);
    }

    private static byte[] associated(String role, int generation) {
        return new FieldWriter().text(role).number32(generation).done();
    }

    private FieldWriter header() {
        return new FieldWriter()
                .bytes(MAGIC)
                .bytes(EpochKeys.bytes(epoch))
                .number64(createdMs)
                .number64(notAfterMs)
                .bytes(commitment)
                .text(sender)
                .text(realm)
                .text(topic);
    }

    /** The packet with its signature. */
    byte[] sign(RawKeyPair senderKey) {
        FieldWriter out = header().number8(recipients.size());
        for (Recipient recipient : recipients) {
            out.text(recipient.role)
                    .number32(recipient.generation)
                    .bytes(recipient.encapsulation)
                    .bytes(recipient.sealedSecret);
        }
        return out.bytes(senderKey.sign(SIGNATURE_LABEL, out.done())).done();
    }

    /** Reads a packet without checking its signature. */
    static KeyPacket decode(byte[] value) {
        if (value.length > MAX_SIZE_BYTES) {
            throw new SealFault(Reason.MALFORMED, "a key packet of " + value.length + " bytes");
        }
        FieldReader in = new FieldReader(value);
        in.expect(MAGIC, "a key packet");
        Uuid epoch = new Uuid(in.number64(), in.number64());
        long createdMs = in.number64();
        long notAfterMs = in.number64();
        byte[] commitment = in.bytes(Hkdf.HASH_SIZE_BYTES);
        String sender = in.text();
        String realm = in.text();
        String topic = in.text();
        int count = in.number8();
        if (count > MAX_RECIPIENTS) {
            throw new SealFault(Reason.MALFORMED, "a key packet for " + count + " roles");
        }
        List<Recipient> recipients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            recipients.add(new Recipient(
                    in.text(),
                    in.number32(),
                    in.bytes(Hpke.ENCAPSULATION_SIZE_BYTES),
                    in.bytes(SEALED_SECRET_SIZE_BYTES)));
        }
        in.bytes(RawKeyPair.SIGNATURE_SIZE_BYTES);
        in.expectEnd();
        return new KeyPacket(epoch, createdMs, notAfterMs, commitment, sender, realm, topic, recipients);
    }

    /** Whether the encoded packet is signed with this key. */
    static boolean isSigned(byte[] value, byte[] senderPublic) {
        int signedBytes = value.length - RawKeyPair.SIGNATURE_SIZE_BYTES;
        return signedBytes > 0
                && RawKeyPair.verify(
                        senderPublic,
                        Arrays.copyOfRange(value, signedBytes, value.length),
                        SIGNATURE_LABEL,
                        Arrays.copyOf(value, signedBytes));
    }

    /** Decrypts the secret with the key of a role. */
    EpochKeys open(Recipient recipient, RawKeyPair roleKey) {
        byte[] secret;
        try {
            secret = Hpke.AES_256_GCM.open(
                    recipient.encapsulation,
                    roleKey,
                    header().done(),
                    associated(recipient.role, recipient.generation),
                    recipient.sealedSecret);
        } catch (GeneralSecurityException wrong) {
            throw new SealFault(
                    Reason.NO_KEY, "its key packet cannot be opened with the key of role " + recipient.role, wrong);
        }
        EpochKeys keys = new EpochKeys(epoch, secret);
        if (!MessageDigest.isEqual(keys.commitment(), commitment)) {
            throw new SealFault(Reason.WRONG_TAG, "its key packet contains another secret than it commits to");
        }
        return keys;
    }
}
