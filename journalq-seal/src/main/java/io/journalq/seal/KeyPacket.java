package io.journalq.seal;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.error.SealingException;
import io.journalq.common.id.Uuid;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The secret of an epoch, encrypted for each role that may read it, and signed by the sender. It is a record in {@link
 * #TOPIC}, whose key is the id of the epoch. Immutable if the arrays are not modified.
 *
 * <p>For a role with a key of X25519, the secret is encrypted by {@link Hpke}, bound to the header of the packet. For a
 * role with an RSA key, it is encrypted by RSA-OAEP, together with a hash of what HPKE is bound to, because key management
 * services support no label. A packet with RSA keys begins with another magic text, and states the kind of each
 * recipient. So does one of an epoch whose batches are signed, with a third magic text.
 *
 * @param createdMs when the sender made the epoch, in milliseconds since 1970 UTC
 * @param notAfterMs when the sender stops using it
 * @param commitment {@link EpochKeys#commitment()}
 * @param signsBatches whether the sender signs each batch of the epoch, so that readers cannot make any
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
        boolean signsBatches,
        List<Recipient> recipients) {
    /** The compacted topic of key packets. */
    static final String TOPIC = "jqe1.keys";

    /** The maximum number of roles that may read a topic. */
    static final int MAX_RECIPIENTS = 16;

    static final int MAX_SIZE_BYTES = 64 * 1024;

    private static final byte[] MAGIC = "JQK1".getBytes(US_ASCII);
    private static final byte[] MAGIC_WITH_RSA = "JQK2".getBytes(US_ASCII);
    private static final byte[] MAGIC_OF_SIGNED_BATCHES = "JQK3".getBytes(US_ASCII);
    private static final int KIND_HPKE = 1;
    private static final int KIND_RSA = 2;
    private static final byte[] RSA_LABEL = "JQE1 rsa\0".getBytes(US_ASCII);
    static final byte[] SIGNATURE_LABEL = "JQE1 key packet\0".getBytes(US_ASCII);
    private static final int SEALED_SECRET_SIZE_BYTES = EpochKeys.SECRET_SIZE_BYTES + Hpke.TAG_SIZE_BYTES;

    /**
     * The secret for one role.
     *
     * @param encapsulation that of HPKE; empty for RSA
     */
    @SuppressWarnings("ArrayRecordComponent") // nobody changes the arrays or compares the record
    record Recipient(String role, int generation, byte[] encapsulation, byte[] sealedSecret) {
        boolean isRsa() {
            return encapsulation.length == 0;
        }
    }

    /** A key of a role, as the registry states it. */
    @SuppressWarnings("ArrayRecordComponent") // nobody changes the arrays or compares the record
    record Reader(String role, int generation, byte[] publicKey) {}

    /** Makes the packet of an epoch. */
    static KeyPacket create(
            EpochKeys epoch,
            long createdMs,
            long notAfterMs,
            String sender,
            String realm,
            String topic,
            boolean signsBatches,
            List<Reader> roles) {
        KeyPacket packet = new KeyPacket(
                epoch.id(), createdMs, notAfterMs, epoch.commitment(), sender, realm, topic, signsBatches, List.of());
        byte[] info = packet.header(roles.stream().anyMatch(role -> RsaRoleKey.isRsa(role.publicKey)))
                .done();
        List<Recipient> recipients = new ArrayList<>();
        for (Reader role : roles) {
            try {
                recipients.add(
                        RsaRoleKey.isRsa(role.publicKey)
                                ? ofRsa(role, info, epoch.secret())
                                : ofHpke(role, info, epoch.secret()));
            } catch (GeneralSecurityException invalid) {
                throw new IllegalArgumentException(
                        "the key of role " + role.role + " is not valid: " + invalid.getMessage(), invalid);
            }
        }
        return new KeyPacket(
                packet.epoch, createdMs, notAfterMs, packet.commitment, sender, realm, topic, signsBatches, recipients);
    }

    private static Recipient ofHpke(Reader role, byte[] info, byte[] secret) throws GeneralSecurityException {
        RawKeyPair ephemeral = RawKeyPair.ofX25519();
        byte[] sealed =
                Hpke.AES_256_GCM.seal(role.publicKey, ephemeral, info, associated(role.role, role.generation), secret);
        return new Recipient(role.role, role.generation, ephemeral.publicKey(), sealed);
    }

    private static Recipient ofRsa(Reader role, byte[] info, byte[] secret) throws GeneralSecurityException {
        byte[] message = new FieldWriter()
                .bytes(secret)
                .bytes(binding(info, role.role, role.generation))
                .done();
        try {
            return new Recipient(role.role, role.generation, new byte[0], RsaRoleKey.encrypt(role.publicKey, message));
        } finally {
            Arrays.fill(message, (byte) 0);
        }
    }

    /** What binds a secret to the packet and the role that it is for. */
    private static byte[] binding(byte[] info, String role, int generation) {
        return Hkdf.sha256(RSA_LABEL, info, associated(role, generation));
    }

    private static byte[] associated(String role, int generation) {
        return new FieldWriter().text(role).number32(generation).done();
    }

    private boolean hasRsa() {
        return recipients.stream().anyMatch(Recipient::isRsa);
    }

    private byte[] magic(boolean withRsa) {
        return signsBatches ? MAGIC_OF_SIGNED_BATCHES : withRsa ? MAGIC_WITH_RSA : MAGIC;
    }

    private FieldWriter header(boolean withRsa) {
        return new FieldWriter()
                .bytes(magic(withRsa))
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
        boolean withKinds = signsBatches || hasRsa();
        FieldWriter out = header(hasRsa()).number8(recipients.size());
        for (Recipient recipient : recipients) {
            out.text(recipient.role).number32(recipient.generation);
            if (withKinds) {
                out.number8(recipient.isRsa() ? KIND_RSA : KIND_HPKE);
            }
            if (recipient.isRsa()) {
                out.nullable(recipient.sealedSecret);
            } else {
                out.bytes(recipient.encapsulation).bytes(recipient.sealedSecret);
            }
        }
        return out.bytes(senderKey.sign(SIGNATURE_LABEL, out.done())).done();
    }

    /** Reads a packet without checking its signature. */
    static KeyPacket decode(byte[] value) {
        if (value.length > MAX_SIZE_BYTES) {
            throw new SealFault(Reason.MALFORMED, "a key packet of " + value.length + " bytes");
        }
        FieldReader in = new FieldReader(value);
        byte[] magic = in.bytes(MAGIC.length);
        boolean signsBatches = Arrays.equals(magic, MAGIC_OF_SIGNED_BATCHES);
        boolean withKinds = signsBatches || Arrays.equals(magic, MAGIC_WITH_RSA);
        if (!withKinds && !Arrays.equals(magic, MAGIC)) {
            throw new SealFault(Reason.MALFORMED, "it is not a key packet");
        }
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
            recipients.add(recipient(in, withKinds));
        }
        in.bytes(RawKeyPair.SIGNATURE_SIZE_BYTES);
        in.expectEnd();
        KeyPacket packet =
                new KeyPacket(epoch, createdMs, notAfterMs, commitment, sender, realm, topic, signsBatches, recipients);
        if (!Arrays.equals(packet.magic(packet.hasRsa()), magic)) {
            throw new SealFault(Reason.MALFORMED, "a key packet that states kinds of recipients without an RSA key");
        }
        return packet;
    }

    private static Recipient recipient(FieldReader in, boolean withKinds) {
        String role = in.text();
        int generation = in.number32();
        int kind = withKinds ? in.number8() : KIND_HPKE;
        if (kind == KIND_HPKE) {
            return new Recipient(
                    role, generation, in.bytes(Hpke.ENCAPSULATION_SIZE_BYTES), in.bytes(SEALED_SECRET_SIZE_BYTES));
        }
        byte[] sealed = kind == KIND_RSA ? in.nullable() : null;
        if (sealed == null || sealed.length == 0) {
            throw new SealFault(Reason.MALFORMED, "a key packet with an unknown kind of recipient");
        }
        return new Recipient(role, generation, new byte[0], sealed);
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

    /**
     * Decrypts the secret with the key of a role.
     *
     * @throws SealFault if the packet is not for this key, or was changed
     * @throws SealingException if the key cannot be used now
     */
    EpochKeys open(Recipient recipient, RoleKey roleKey) {
        byte[] secret;
        try {
            secret = recipient.isRsa() ? openRsa(recipient, roleKey) : openHpke(recipient, roleKey);
        } catch (IOException unavailable) {
            throw unavailable(recipient, unavailable);
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

    /** The key of a role is in another process and cannot be used now, so that nothing is opened. */
    static SealingException unavailable(Recipient recipient, IOException cause) {
        return new SealingException(
                "the key of role " + recipient.role + ", generation " + recipient.generation + ", cannot be used: "
                        + cause.getMessage(),
                cause);
    }

    private byte[] openHpke(Recipient recipient, RoleKey roleKey) throws GeneralSecurityException {
        if (!(roleKey instanceof RawKeyPair pair)) {
            throw new GeneralSecurityException("the key of the role is one of RSA, and the packet was made for X25519");
        }
        return Hpke.AES_256_GCM.open(
                recipient.encapsulation,
                pair,
                header(hasRsa()).done(),
                associated(recipient.role, recipient.generation),
                recipient.sealedSecret);
    }

    private byte[] openRsa(Recipient recipient, RoleKey roleKey) throws GeneralSecurityException, IOException {
        if (!(roleKey instanceof RsaRoleKey rsa)) {
            throw new GeneralSecurityException("the key of the role is one of X25519, and the packet was made for RSA");
        }
        byte[] message = rsa.decrypt(recipient.sealedSecret);
        byte[] secret = Arrays.copyOf(message, EpochKeys.SECRET_SIZE_BYTES);
        byte[] binding = Arrays.copyOfRange(message, Math.min(message.length, secret.length), message.length);
        Arrays.fill(message, (byte) 0);
        byte[] expected = binding(header(true).done(), recipient.role, recipient.generation);
        if (!MessageDigest.isEqual(binding, expected)) {
            throw new GeneralSecurityException("the secret was encrypted for another packet or role");
        }
        return secret;
    }
}
