package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.error.SealingException;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.SealMark;
import io.journalq.common.record.Varint;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.crypto.spec.SecretKeySpec;

/**
 * A batch whose records are sealed one by one, so that compaction can remove single records and other clients can read
 * from any offset. The value of a sealed record contains the headers and the value, encrypted, and its only header is the
 * envelope. The key is authenticated with it.
 *
 * <p>In mode {@link SealMode#RECORD}, keys are not encrypted, and tombstones are not sealed. In mode {@link
 * SealMode#TOKEN}, a token takes the place of the key, and the encrypted part contains the key in front of the value. A
 * tombstone has no value, and its encrypted part follows the envelope in the header. In mode {@link SealMode#SUBJECT},
 * records are as in mode {@link SealMode#RECORD}, and the key of AES is derived from that of the epoch and that of the
 * subject.
 */
final class SealedRecords {
    /** The maximum number of records of a sealed batch. The nonce has three bytes for the index. */
    private static final int MAX_RECORDS = 1 << 24;

    private static final int NULL_LENGTH = -1;

    private SealedRecords() {}

    /**
     * Seals a batch, whose reference stays with the caller. The caller releases the result.
     *
     * @param tokens makes tokens of keys; null unless the mode is {@link SealMode#TOKEN}
     * @param subjects the keys of subjects; null unless the mode is {@link SealMode#SUBJECT}
     */
    static ByteBuf seal(
            ByteBuf plain,
            Envelope first,
            SecretKeySpec key,
            TokenKey tokens,
            SubjectKeys subjects,
            String realm,
            TopicPartition partition) {
        FrameCipher cipher = FrameCipher.borrow();
        try (BatchReader reader = new BatchReader(
                        ByteBufAllocator.DEFAULT, BatchReader.DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES, false);
                BatchBuilder builder =
                        new BatchBuilder(ByteBufAllocator.DEFAULT, CompressionCodec.NONE, 2 * plain.readableBytes())) {
            reader.reset(plain);
            reader.nextBatch();
            if (reader.recordCount() > MAX_RECORDS) {
                throw new SealingException("a batch of " + reader.recordCount() + " records cannot be sealed", null);
            }
            int start = plain.readerIndex();
            builder.setProducerState(
                    reader.producerId(),
                    RecordBatch.producerEpoch(plain, start),
                    RecordBatch.baseSequence(plain, start),
                    reader.isTransactional());
            for (int i = 0; reader.next(); i++) {
                Envelope envelope = new Envelope(
                        first.mode(), first.frameBits(), first.epoch(), first.packetOffset(), first.number(), i);
                byte[] recordKey = copy(reader.key());
                byte[] value = copy(reader.value());
                List<Header> headers = reader.headers();
                if (tokens != null) {
                    appendToken(builder, reader, cipher, envelope, key, tokens, realm, partition);
                } else if (value == null) {
                    if (!headers.isEmpty()) {
                        throw new SealingException(
                                "a tombstone cannot have headers in a topic of sealed records, because it is not sealed",
                                null);
                    }
                    builder.append(reader.timestampMs(), recordKey, null, List.of());
                } else {
                    byte[] associated = associated(envelope, realm, partition, recordKey);
                    SecretKeySpec ofRecord =
                            subjects == null ? key : ofSubject(subjects, partition.topic(), recordKey, key);
                    byte[] sealed = seal(cipher, envelope, ofRecord, associated, content(headers, value));
                    builder.append(
                            reader.timestampMs(),
                            recordKey,
                            sealed,
                            List.of(new Header(SealMark.HEADER, envelope.encode())));
                }
            }
            return builder.build();
        } catch (GeneralSecurityException broken) {
            throw new IllegalStateException("cannot encrypt: " + broken.getMessage(), broken);
        } finally {
            cipher.giveBack();
        }
    }

    private static SecretKeySpec ofSubject(SubjectKeys subjects, String topic, byte[] subject, SecretKeySpec key) {
        if (subject == null) {
            throw new SealingException(
                    "a record without a key cannot be sent to topic " + topic + ", because its mode is subject", null);
        }
        try {
            return SubjectKeys.recordKey(subjects.make(topic, subject), key);
        } catch (SubjectKeys.ShreddedException shredded) {
            throw new SealingException(
                    "a record of a subject whose key was destroyed cannot be sent to topic " + topic, shredded);
        } catch (IOException unusable) {
            throw unavailable(topic, unusable);
        }
    }

    private static SealingException unavailable(String topic, IOException cause) {
        return new SealingException(
                "the key of a subject of topic " + topic + " cannot be used: " + cause.getMessage(), cause);
    }

    /** Seals a record whose key the broker does not see. */
    private static void appendToken(
            BatchBuilder builder,
            BatchReader reader,
            FrameCipher cipher,
            Envelope envelope,
            SecretKeySpec key,
            TokenKey tokens,
            String realm,
            TopicPartition partition)
            throws GeneralSecurityException {
        byte[] recordKey = copy(reader.key());
        if (recordKey == null) {
            throw new SealingException(
                    "a record without a key cannot be sent to topic " + partition.topic()
                            + ", because its mode is token",
                    null);
        }
        byte[] value = copy(reader.value());
        byte[] token = tokens.token(realm, partition.topic(), recordKey);
        byte[] content = new FieldWriter()
                .bytes(content(reader.headers(), new byte[0]))
                .nullable(recordKey)
                .bytes(value == null ? new byte[0] : value)
                .done();
        byte[] associated = associatedWithToken(envelope, realm, partition, token, value == null);
        byte[] sealed = seal(cipher, envelope, key, associated, content);
        byte[] header = envelope.encode();
        if (value == null) {
            header = new FieldWriter().bytes(header).bytes(sealed).done();
        }
        builder.append(
                reader.timestampMs(),
                token,
                value == null ? null : sealed,
                List.of(new Header(SealMark.HEADER, header)));
    }

    /** As {@link #associated}, and whether it is a tombstone, so that a broker cannot make one of an empty value. */
    private static byte[] associatedWithToken(
            Envelope envelope, String realm, TopicPartition partition, byte[] token, boolean tombstone) {
        return new FieldWriter()
                .bytes(associated(envelope, realm, partition, token))
                .number8(tombstone ? 1 : 0)
                .done();
    }

    private static byte[] seal(
            FrameCipher cipher, Envelope envelope, SecretKeySpec key, byte[] associated, byte[] content)
            throws GeneralSecurityException {
        System.arraycopy(content, 0, cipher.input(content.length), 0, content.length);
        int sealedBytes = cipher.sealRecord(key, envelope.number(), envelope.index(), associated, content.length);
        return Arrays.copyOf(cipher.output(), sealedBytes);
    }

    private static byte[] associated(Envelope envelope, String realm, TopicPartition partition, byte[] recordKey) {
        return envelope.associated(realm, partition, 0).nullable(recordKey).done();
    }

    private static byte[] content(List<Header> headers, byte[] value) {
        FieldWriter content = new FieldWriter().number32(headers.size());
        for (Header header : headers) {
            content.nullable(header.key().getBytes(UTF_8)).nullable(header.value());
        }
        return content.bytes(value).done();
    }

    private static byte[] copy(ByteBuf view) {
        return view == null ? null : ByteBufUtil.getBytes(view);
    }

    /** Finds the keys of a record. */
    interface Keys {
        /** Returns the key for the records of an envelope, or throws {@link SealFault}. */
        SecretKeySpec key(Envelope envelope);

        /** The keys of subjects; null if there are none. */
        default SubjectKeys subjects() {
            return null;
        }
    }

    /** The key of a record in mode {@link SealMode#SUBJECT}; null if that of its subject was destroyed. */
    private static SecretKeySpec ofSubject(Keys keys, String topic, byte[] subject, SecretKeySpec key) {
        if (subject == null) {
            throw new SealFault(Reason.MALFORMED, "a record of it has no key, which names its subject");
        }
        if (keys.subjects() == null) {
            throw new SealFault(Reason.NO_KEY, "the policy names no keys of subjects");
        }
        try {
            byte[] subjectKey = keys.subjects().find(topic, subject);
            if (subjectKey == null) {
                throw new SealFault(Reason.NO_KEY, "there is no key for the subject of a record, and never was");
            }
            return SubjectKeys.recordKey(subjectKey, key);
        } catch (SubjectKeys.ShreddedException destroyed) {
            return null;
        } catch (IOException unusable) {
            throw unavailable(topic, unusable);
        }
    }

    /**
     * Opens a batch.
     *
     * @param reader at the batch, before its first record
     * @param mode that of the topic
     * @param outer the buffer with the sealed batch, at {@code index}
     * @param out receives the plain batch, without a valid CRC, and without the records that cannot be opened because
     *     the keys of their subjects were destroyed
     * @param shredded receives the offsets of these records
     * @return the envelope of the first sealed record; null if there are only tombstones
     */
    static Envelope open(
            BatchReader reader,
            SealMode mode,
            Keys keys,
            String realm,
            TopicPartition partition,
            ByteBuf outer,
            int index,
            ByteBuf out,
            List<Long> shredded) {
        int begin = out.writerIndex();
        FrameCipher cipher = FrameCipher.borrow();
        boolean opened = false;
        try {
            out.writeBytes(outer, index, RecordBatch.HEADER_SIZE_BYTES);
            Envelope first = null;
            int lastIndex = -1;
            int count = 0;
            long endOffset = RecordBatch.nextOffset(outer, index);
            while (reader.next()) {
                if (reader.offset() >= endOffset) {
                    // The position would come to lie within the batch, and the record would be read again.
                    throw new SealFault(Reason.MALFORMED, "a record of it has an offset behind its end");
                }
                byte[] value = copy(reader.value());
                byte[] recordKey = copy(reader.key());
                List<Header> headers = List.of();
                boolean withToken = mode == SealMode.TOKEN;
                if (value != null || withToken) {
                    byte[] header = SealedBatch.find(reader.headers());
                    if (header == null) {
                        throw new SealFault(Reason.PLAIN_BATCH, "a record of it is not sealed");
                    }
                    Envelope envelope = Envelope.decode(header);
                    check(envelope, mode, value == null || header.length == Envelope.SIZE_BYTES, first, lastIndex);
                    if (reader.offset() - RecordBatch.baseOffset(outer, index) != envelope.index()) {
                        throw new SealFault(
                                Reason.WRONG_ORDER, "a record of it has another offset than its sender gave");
                    }
                    first = first == null ? envelope : first;
                    lastIndex = envelope.index();
                    SecretKeySpec key = keys.key(envelope);
                    if (mode == SealMode.SUBJECT) {
                        key = ofSubject(keys, partition.topic(), recordKey, key);
                        if (key == null) {
                            shredded.add(reader.offset());
                            continue;
                        }
                    }
                    int contentBytes = cipher.openRecord(
                            key,
                            envelope.number(),
                            envelope.index(),
                            withToken
                                    ? associatedWithToken(envelope, realm, partition, recordKey, value == null)
                                    : associated(envelope, realm, partition, recordKey),
                            value == null ? Arrays.copyOfRange(header, Envelope.SIZE_BYTES, header.length) : value);
                    FieldReader content = new FieldReader(Arrays.copyOf(cipher.output(), contentBytes));
                    headers = headers(content);
                    if (withToken) {
                        recordKey = content.nullable();
                        if (recordKey == null) {
                            throw new SealFault(Reason.MALFORMED, "a record has a token, but no key");
                        }
                    }
                    if (value == null) {
                        content.expectEnd();
                    } else {
                        value = content.bytes(content.leftBytes());
                    }
                }
                write(out, reader, outer, index, recordKey, value, headers);
                count++;
            }
            out.setInt(begin + RecordBatch.RECORD_COUNT, count);
            int attributes = RecordBatch.attributes(outer, index) & ~RecordBatch.COMPRESSION_MASK;
            RecordBatch.setAttributes(out, begin, (short) attributes);
            out.setInt(begin + RecordBatch.LENGTH, out.writerIndex() - begin - RecordBatch.LOG_OVERHEAD_BYTES);
            opened = true;
            return first;
        } catch (GeneralSecurityException wrong) {
            throw new SealFault(
                    Reason.WRONG_TAG,
                    "a record of it was changed, or does not belong to this key, topic and partition",
                    wrong);
        } finally {
            cipher.giveBack();
            if (!opened) {
                out.writerIndex(begin);
            }
        }
    }

    private static void check(Envelope envelope, SealMode mode, boolean hasSize, Envelope first, int lastIndex) {
        if (!hasSize || envelope.mode() != mode) {
            throw new SealFault(Reason.MALFORMED, "a record is sealed in another mode than the registry states");
        }
        if (first != null && (!envelope.epoch().equals(first.epoch()) || envelope.number() != first.number())) {
            throw new SealFault(Reason.WRONG_ORDER, "it has records of two batches");
        }
        if (envelope.index() <= lastIndex) {
            throw new SealFault(Reason.WRONG_ORDER, "its records come twice, or not in the order of the sender");
        }
    }

    private static List<Header> headers(FieldReader content) {
        int count = content.number32();
        // A header takes two lengths at least.
        if (count < 0 || count > content.leftBytes() / (2 * Integer.BYTES)) {
            throw new SealFault(Reason.MALFORMED, "a record claims " + count + " headers");
        }
        List<Header> headers = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            byte[] name = content.nullable();
            if (name == null) {
                throw new SealFault(Reason.MALFORMED, "a header without a name");
            }
            headers.add(new Header(new String(name, UTF_8), content.nullable()));
        }
        return headers;
    }

    /** Writes a record with the offset and the time of the sealed one, which compaction may have left with gaps. */
    private static void write(
            ByteBuf out, BatchReader reader, ByteBuf outer, int index, byte[] key, byte[] value, List<Header> headers) {
        int offsetDelta = (int) (reader.offset() - RecordBatch.baseOffset(outer, index));
        long timestampDelta = RecordBatch.isLogAppendTime(outer, index)
                ? 0
                : reader.timestampMs() - RecordBatch.baseTimestamp(outer, index);
        int keyBytes = key == null ? NULL_LENGTH : key.length;
        int valueBytes = value == null ? NULL_LENGTH : value.length;
        int bodyBytes = 1
                + Varint.sizeBytes(timestampDelta)
                + Varint.sizeBytes(offsetDelta)
                + sizeOf(key)
                + sizeOf(value)
                + Varint.sizeBytes(headers.size());
        for (Header header : headers) {
            bodyBytes += sizeOf(header.key().getBytes(UTF_8)) + sizeOf(header.value());
        }
        out.ensureWritable(Varint.sizeBytes(bodyBytes) + bodyBytes);
        int at = Varint.set(out, out.writerIndex(), bodyBytes);
        out.setByte(at++, 0);
        at = Varint.set(out, at, timestampDelta);
        at = Varint.set(out, at, offsetDelta);
        at = set(out, at, keyBytes, key);
        at = set(out, at, valueBytes, value);
        at = Varint.set(out, at, headers.size());
        for (Header header : headers) {
            byte[] name = header.key().getBytes(UTF_8);
            at = set(out, at, name.length, name);
            byte[] content = header.value();
            at = set(out, at, content == null ? NULL_LENGTH : content.length, content);
        }
        out.writerIndex(at);
    }

    private static int sizeOf(byte[] bytes) {
        return bytes == null ? Varint.sizeBytes(NULL_LENGTH) : Varint.sizeBytes(bytes.length) + bytes.length;
    }

    private static int set(ByteBuf out, int at, int length, byte[] bytes) {
        int next = Varint.set(out, at, length);
        if (bytes != null) {
            out.setBytes(next, bytes);
            next += bytes.length;
        }
        return next;
    }
}
