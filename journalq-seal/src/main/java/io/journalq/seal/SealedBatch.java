package io.journalq.seal;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.Crc32c;
import io.journalq.common.record.Header;
import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.SealMark;
import io.journalq.common.record.Varint;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.List;
import javax.crypto.spec.SecretKeySpec;

/**
 * A batch that is sealed as one piece ({@link SealMode#BATCH}). Around the seal there is a valid batch for the broker and
 * for clients that cannot open it. It has the same number of records, so that offsets, transactions and retention work as
 * before. Its records have no keys and empty values; the header {@link SealMark#HEADER} of the first one contains the
 * envelope and the encrypted content. The first record has the largest timestamp of the batch and the others have the
 * smallest base, so that a search by time finds the batch, and times of single records stay secret.
 *
 * <p>Content: attributes (1 byte, the codec), number of records (4), base and largest timestamp (8 each), and the records
 * as the producer has encoded and compressed them. If the sender signs its batches, a signature follows the encrypted
 * content: of the envelope, of where the batch belongs, of the number of records, and of the encrypted content. The key
 * packet commits to the key, so that this content has one meaning only.
 */
final class SealedBatch {
    private static final int CONTENT_HEADER_SIZE_BYTES = 1 + Integer.BYTES + 2 * Long.BYTES;
    private static final byte[] SIGNATURE_LABEL = "JQE1 batch\0".getBytes(US_ASCII);
    private static final byte[] HEADER = SealMark.HEADER.getBytes(US_ASCII);
    private static final int NULL_LENGTH = -1;
    /** Flags of the broker and of transactions, which the opened batch keeps. */
    private static final int KEPT_FLAGS = RecordBatch.LOG_APPEND_TIME_FLAG | RecordBatch.TRANSACTIONAL_FLAG;

    private SealedBatch() {}

    /**
     * Who has sealed a batch.
     *
     * @param key that of the epoch for the partition
     * @param signer the public key of a sender that signs its batches; null if it does not
     */
    @SuppressWarnings("ArrayRecordComponent") // nobody changes the array or compares the record
    record Origin(SecretKeySpec key, byte[] signer) {}

    /**
     * Seals a batch, whose reference stays with the caller. The caller releases the result.
     *
     * @param signer the key of the sender if it signs its batches, otherwise null
     */
    static ByteBuf seal(
            ByteBuf plain,
            Envelope envelope,
            SecretKeySpec key,
            RawKeyPair signer,
            String realm,
            TopicPartition partition) {
        int start = plain.readerIndex();
        int count = RecordBatch.recordCount(plain, start);
        int recordsBytes = plain.readableBytes() - RecordBatch.HEADER_SIZE_BYTES;
        byte[] associated = envelope.associated(realm, partition, count).done();
        FrameCipher cipher = FrameCipher.borrow();
        byte[] content = cipher.input(CONTENT_HEADER_SIZE_BYTES + recordsBytes);
        ByteBuffer.wrap(content)
                .put((byte) RecordBatch.compressionId(plain, start))
                .putInt(count)
                .putLong(RecordBatch.baseTimestamp(plain, start))
                .putLong(RecordBatch.maxTimestamp(plain, start));
        plain.getBytes(start + RecordBatch.HEADER_SIZE_BYTES, content, CONTENT_HEADER_SIZE_BYTES, recordsBytes);
        try {
            int sealedBytes = cipher.seal(
                    key, envelope.number(), envelope.frameBits(), associated, CONTENT_HEADER_SIZE_BYTES + recordsBytes);
            if (signer == null) {
                return wrap(plain, envelope.encode(), cipher.output(), sealedBytes, count);
            }
            byte[] sealed = Arrays.copyOf(cipher.output(), sealedBytes);
            byte[] signature = signer.sign(SIGNATURE_LABEL, associated, sealed);
            byte[] signed = Arrays.copyOf(sealed, sealedBytes + signature.length);
            System.arraycopy(signature, 0, signed, sealedBytes, signature.length);
            return wrap(plain, envelope.encode(), signed, signed.length, count);
        } catch (GeneralSecurityException broken) {
            throw new IllegalStateException("cannot encrypt: " + broken.getMessage(), broken);
        } finally {
            cipher.giveBack();
        }
    }

    /** The batch around the seal. */
    private static ByteBuf wrap(ByteBuf plain, byte[] envelope, byte[] sealed, int sealedBytes, int count) {
        int start = plain.readerIndex();
        int valueBytes = envelope.length + sealedBytes;
        long timestampDelta = RecordBatch.maxTimestamp(plain, start) - RecordBatch.baseTimestamp(plain, start);
        int bodyBytes = 1
                + Varint.sizeBytes(timestampDelta)
                + Varint.sizeBytes(0)
                + Varint.sizeBytes(NULL_LENGTH)
                + Varint.sizeBytes(0)
                + Varint.sizeBytes(1)
                + Varint.sizeBytes(HEADER.length)
                + HEADER.length
                + Varint.sizeBytes(valueBytes)
                + valueBytes;
        int sizeBytes = RecordBatch.HEADER_SIZE_BYTES + Varint.sizeBytes(bodyBytes) + bodyBytes;
        for (int i = 1; i < count; i++) {
            sizeBytes += emptyRecordBytes(i) + 1;
        }
        ByteBuf out = ByteBufAllocator.DEFAULT.directBuffer(sizeBytes);
        out.writeBytes(plain, start, RecordBatch.HEADER_SIZE_BYTES);
        int at = Varint.set(out, out.writerIndex(), bodyBytes);
        out.setByte(at++, 0);
        at = Varint.set(out, at, timestampDelta);
        at = Varint.set(out, at, 0);
        at = Varint.set(out, at, NULL_LENGTH);
        at = Varint.set(out, at, 0);
        at = Varint.set(out, at, 1);
        at = Varint.set(out, at, HEADER.length);
        out.setBytes(at, HEADER);
        at = Varint.set(out, at + HEADER.length, valueBytes);
        out.setBytes(at, envelope);
        out.setBytes(at + envelope.length, sealed, 0, sealedBytes);
        at += valueBytes;
        for (int i = 1; i < count; i++) {
            at = Varint.set(out, at, emptyRecordBytes(i));
            out.setByte(at++, 0);
            at = Varint.set(out, at, 0L);
            at = Varint.set(out, at, i);
            at = Varint.set(out, at, NULL_LENGTH);
            at = Varint.set(out, at, 0);
            at = Varint.set(out, at, 0);
        }
        out.writerIndex(at);
        int attributes = RecordBatch.attributes(out, 0) & ~RecordBatch.COMPRESSION_MASK;
        RecordBatch.setAttributes(out, 0, (short) attributes);
        out.setInt(RecordBatch.LENGTH, at - RecordBatch.LOG_OVERHEAD_BYTES);
        RecordBatch.setCrc(out, 0, Crc32c.compute(out, RecordBatch.ATTRIBUTES, at - RecordBatch.ATTRIBUTES));
        return out;
    }

    /** The size of a record without key, value and headers, without its length, which takes one byte. */
    private static int emptyRecordBytes(int offsetDelta) {
        return 5 + Varint.sizeBytes(offsetDelta);
    }

    /** The value of the header that contains the envelope; null if there is none. */
    static byte[] find(List<Header> headers) {
        byte[] found = null;
        for (Header header : headers) {
            if (header.key().equals(SealMark.HEADER)) {
                if (found != null) {
                    throw new SealFault(Reason.MALFORMED, "it has two envelopes");
                }
                found = header.value();
            }
        }
        return found;
    }

    private static boolean isSigned(byte[] value, int end, byte[] signer, byte[] associated) {
        return RawKeyPair.verify(
                signer,
                Arrays.copyOfRange(value, end, value.length),
                SIGNATURE_LABEL,
                associated,
                Arrays.copyOfRange(value, Envelope.SIZE_BYTES, end));
    }

    /**
     * Opens a batch.
     *
     * @param value the envelope with the encrypted content, and the signature if there is one
     * @param origin who must have sealed it
     * @param outer the buffer with the batch around the seal, at {@code index}
     * @param out receives the plain batch, without a valid CRC
     */
    static void open(
            byte[] value,
            Envelope envelope,
            Origin origin,
            String realm,
            TopicPartition partition,
            ByteBuf outer,
            int index,
            ByteBuf out) {
        int count = RecordBatch.recordCount(outer, index);
        if (RecordBatch.lastOffsetDelta(outer, index) != count - 1) {
            throw new SealFault(Reason.MALFORMED, "its offsets do not match its records");
        }
        int signatureBytes = origin.signer == null ? 0 : RawKeyPair.SIGNATURE_SIZE_BYTES;
        int end = value.length - signatureBytes;
        if (end < Envelope.SIZE_BYTES) {
            throw new SealFault(Reason.WRONG_SIGNATURE, "it has no signature, although its sender signs its batches");
        }
        FrameCipher cipher = FrameCipher.borrow();
        try {
            byte[] associated = envelope.associated(realm, partition, count).done();
            int contentBytes = cipher.open(
                    origin.key, envelope.number(), envelope.frameBits(), associated, value, Envelope.SIZE_BYTES, end);
            if (origin.signer != null && !isSigned(value, end, origin.signer, associated)) {
                throw new SealFault(
                        Reason.WRONG_SIGNATURE, "its sender signs its batches, and has not signed this one");
            }
            ByteBuffer content = ByteBuffer.wrap(cipher.output(), 0, contentBytes);
            if (contentBytes < CONTENT_HEADER_SIZE_BYTES) {
                throw new SealFault(Reason.MALFORMED, "its content is too short");
            }
            int codec = content.get() & RecordBatch.COMPRESSION_MASK;
            if (content.getInt() != count) {
                throw new SealFault(Reason.MALFORMED, "its content has another number of records");
            }
            long baseTimestampMs = content.getLong();
            long maxTimestampMs = content.getLong();
            int at = out.writerIndex();
            out.writeBytes(outer, index, RecordBatch.HEADER_SIZE_BYTES);
            out.writeBytes(content.array(), content.position(), content.remaining());
            int attributes = codec | (RecordBatch.attributes(outer, index) & KEPT_FLAGS);
            RecordBatch.setAttributes(out, at, (short) attributes);
            out.setInt(at + RecordBatch.LENGTH, out.writerIndex() - at - RecordBatch.LOG_OVERHEAD_BYTES);
            out.setLong(at + RecordBatch.BASE_TIMESTAMP, baseTimestampMs);
            if (!RecordBatch.isLogAppendTime(outer, index)) {
                RecordBatch.setMaxTimestamp(out, at, maxTimestampMs);
            }
        } catch (GeneralSecurityException wrong) {
            throw new SealFault(
                    Reason.WRONG_TAG, "it was changed, or does not belong to this topic and partition", wrong);
        } finally {
            cipher.giveBack();
        }
    }
}
