package io.journalq.seal;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.record.SealMark;
import java.nio.ByteBuffer;

/**
 * The part of a sealed batch or record that everybody can read. It names the key, and is authenticated with the content.
 *
 * @param frameBits the size of a frame before encryption, as a power of two: 14 (16 KiB) to 18 (256 KiB)
 * @param epoch the id of the epoch
 * @param packetOffset the offset of the epoch's key packet in {@link KeyPacket#TOPIC}
 * @param number the number of the batch in its epoch and partition, from 0
 * @param index the index of the record in its batch in mode {@link SealMode#RECORD}, otherwise 0
 */
record Envelope(SealMode mode, int frameBits, Uuid epoch, long packetOffset, long number, int index) {
    static final int SIZE_BYTES = 44;
    static final int MIN_FRAME_BITS = 14;
    static final int MAX_FRAME_BITS = 18;

    private static final byte[] MAGIC = SealMark.MAGIC.getBytes(US_ASCII);

    /** HKDF with SHA-256, and AES-256-GCM. */
    private static final int SUITE = 1;

    byte[] encode() {
        return ByteBuffer.allocate(SIZE_BYTES)
                .put(MAGIC)
                .put((byte) mode.code())
                .put((byte) SUITE)
                .put((byte) frameBits)
                .put((byte) 0)
                .putLong(epoch.mostSignificantBits())
                .putLong(epoch.leastSignificantBits())
                .putLong(packetOffset)
                .putLong(number)
                .putInt(index)
                .array();
    }

    /** Reads the envelope at the beginning of a header's value. */
    static Envelope decode(byte[] value) {
        FieldReader in = new FieldReader(value);
        in.expect(MAGIC, "an envelope of JQE1");
        SealMode mode = SealMode.of(in.number8());
        int suite = in.number8();
        int frameBits = in.number8();
        if (mode == null || suite != SUITE || in.number8() != 0) {
            throw new SealFault(Reason.MALFORMED, "the envelope has an unknown mode or suite");
        }
        if (frameBits < MIN_FRAME_BITS || frameBits > MAX_FRAME_BITS) {
            throw new SealFault(Reason.MALFORMED, "frames of 2^" + frameBits + " bytes");
        }
        Envelope envelope = new Envelope(
                mode, frameBits, new Uuid(in.number64(), in.number64()), in.number64(), in.number64(), in.number32());
        if (envelope.number < 0 || envelope.packetOffset < 0 || envelope.index < 0) {
            throw new SealFault(Reason.MALFORMED, "the envelope has a negative number");
        }
        return envelope;
    }

    /**
     * What is authenticated with the content: the envelope, where it belongs, and how many records there are. It contains
     * nothing that the producer changes when it sends a batch again.
     *
     * @param count the number of records of the batch in mode {@link SealMode#BATCH}, otherwise 0
     */
    FieldWriter associated(String realm, TopicPartition partition, int count) {
        return new FieldWriter()
                .bytes(encode())
                .text(realm)
                .text(partition.topic())
                .number32(partition.partition())
                .number32(count);
    }
}
