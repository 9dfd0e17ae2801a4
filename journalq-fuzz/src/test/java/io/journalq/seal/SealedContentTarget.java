package io.journalq.seal;

import static io.journalq.seal.KnownRealm.CUSTOMERS;
import static io.journalq.seal.KnownRealm.ORDERS;
import static io.journalq.seal.KnownRealm.PATIENTS;
import static io.journalq.seal.KnownRealm.PRICES;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.seal.BatchOpener;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.SealMark;
import io.journalq.fuzz.FuzzTarget;
import io.journalq.fuzz.OpenedBatch;
import io.journalq.fuzz.SampleBatches;
import io.journalq.fuzz.ShownKeys;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import javax.crypto.spec.SecretKeySpec;

/**
 * What is behind a genuine tag. A sender can encrypt anything, and so can a reader together with the broker, because readers
 * have the key of the epoch. First byte: what is sealed, a batch, a record, a record with a token, a tombstone with a
 * token, or a record of a subject, whose key exists or was destroyed; then the content. A record that is opened can be
 * read, has a key if it has a token, and is not one of the destroyed subject.
 */
public final class SealedContentTarget implements FuzzTarget {
    private static final int BATCH = 0;
    private static final int RECORD = 1;
    private static final int TOKEN = 2;
    private static final int TOMBSTONE = 3;
    private static final int SUBJECT = 4;
    private static final int SHREDDED = 5;
    private static final int KINDS = 6;

    /** The number of the epoch of mode subject. */
    private static final int OF_SUBJECTS = 3;

    /** Signatures and key exchanges, and what a codec needs. */
    private static final long MAX_ALLOCATED_EXTRA_BYTES = 16L << 20;

    private static final int MAX_ALLOCATED_PER_BYTE = 500;
    private static final byte[] SHOWN_KEY = "0123456789abcdef".getBytes(US_ASCII);
    private static final byte[] SHREDDED_KEY = "fedcba9876543210".getBytes(US_ASCII);

    private final KnownRealm realm = new KnownRealm();
    private final SubjectKeys subjects = subjects();
    private final byte[] subjectKey = subjectKey();
    private final SealPolicy policy = realm.policy(realm.vault, subjects);
    private final List<EpochKeys> epochs =
            List.of(EpochKeys.random(), EpochKeys.random(), EpochKeys.random(), EpochKeys.random());
    private final ShownKeys keys = new ShownKeys(
            List.of(
                    realm.packet(epochs.get(BATCH), ORDERS, false, List.of(realm.ofX25519())),
                    realm.packet(epochs.get(RECORD), PRICES, false, List.of(realm.ofX25519())),
                    realm.packet(epochs.get(TOKEN), CUSTOMERS, false, List.of(realm.ofX25519())),
                    realm.packet(epochs.get(OF_SUBJECTS), PATIENTS, false, List.of(realm.ofX25519()))),
            realm.registry.sign(realm.root));

    /** The number of the next batch, which makes the nonce. What is read does not depend on it. */
    private long number;

    @Override
    public String name() {
        return "sealed-contents";
    }

    /** The key of one subject exists, and that of the other one was destroyed. Both are remembered, for ever. */
    private static SubjectKeys subjects() {
        try {
            Path temporary = Files.createTempDirectory("subjects");
            Path directory = temporary.resolve("keys");
            SubjectKeys subjects = SubjectKeys.create(directory, "secret".toCharArray(), 1, () -> 0);
            subjects.make(PATIENTS.topic(), SHOWN_KEY);
            subjects.shred(PATIENTS.topic(), SHREDDED_KEY);
            try (Stream<Path> files = Files.walk(temporary)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
            return subjects;
        } catch (IOException | SubjectKeys.ShreddedException failed) {
            throw new IllegalStateException("the keys of subjects cannot be made", failed);
        }
    }

    private byte[] subjectKey() {
        try {
            return subjects.find(PATIENTS.topic(), SHOWN_KEY);
        } catch (IOException | SubjectKeys.ShreddedException failed) {
            throw new IllegalStateException("the key of a subject is not remembered", failed);
        }
    }

    @Override
    public List<byte[]> seeds() {
        ByteBuf plain = KnownRealm.plain();
        byte[] batch = new byte[plain.readableBytes()];
        plain.readBytes(batch);
        plain.release();
        byte[] value = "value".getBytes(UTF_8);
        FieldWriter headers = new FieldWriter()
                .number32(2)
                .nullable("h".getBytes(UTF_8))
                .nullable(value)
                .nullable("none".getBytes(UTF_8))
                .nullable(null);
        byte[] withHeaders = headers.done();
        byte[] key = new FieldWriter().nullable("ada@example".getBytes(UTF_8)).done();
        return List.of(
                seed(BATCH, batch),
                seed(BATCH, SampleBatches.bytes(CompressionCodec.ZSTD, 5, 7, true)),
                seed(BATCH, SampleBatches.bytes(CompressionCodec.LZ4, 5, 7, false)),
                seed(RECORD, withHeaders, value),
                seed(TOKEN, withHeaders, key, value),
                seed(TOKEN, new FieldWriter().number32(0).nullable(null).done(), value),
                seed(TOMBSTONE, withHeaders, key),
                seed(SUBJECT, withHeaders, value),
                seed(SHREDDED, withHeaders, value));
    }

    private static byte[] seed(int what, byte[]... parts) {
        FieldWriter seed = new FieldWriter().number8(what);
        for (byte[] part : parts) {
            seed.bytes(part);
        }
        return seed.done();
    }

    @Override
    public void run(byte[] input) throws GeneralSecurityException {
        if (input.length == 0) {
            return;
        }
        int what = Math.floorMod(input[0], KINDS);
        byte[] content = Arrays.copyOfRange(input, 1, input.length);
        switch (what) {
            case BATCH -> {
                if (content.length >= RecordBatch.HEADER_SIZE_BYTES) {
                    openBatch(content);
                }
            }
            case RECORD -> openRecord(PRICES, RECORD, SealMode.RECORD, SHOWN_KEY, content, false);
            case SUBJECT -> openRecord(PATIENTS, OF_SUBJECTS, SealMode.SUBJECT, SHOWN_KEY, content, false);
            case SHREDDED -> openRecord(PATIENTS, OF_SUBJECTS, SealMode.SUBJECT, SHREDDED_KEY, content, false);
            default -> openRecord(CUSTOMERS, TOKEN, SealMode.TOKEN, SHOWN_KEY, content, what == TOMBSTONE);
        }
    }

    private void openBatch(byte[] content) {
        ByteBuf plain = Unpooled.wrappedBuffer(content);
        // A sender can also lie about the number of records, but not so that it needs much memory before it is sealed.
        plain.setInt(RecordBatch.RECORD_COUNT, Math.floorMod(RecordBatch.recordCount(plain, 0), 1_000));
        ByteBuf sealed = SealedBatch.seal(
                plain,
                KnownRealm.envelope(SealMode.BATCH, epochs.get(BATCH), BATCH, number++),
                epochs.get(BATCH).key(SealMode.BATCH, KnownRealm.NAME, ORDERS),
                null,
                KnownRealm.NAME,
                ORDERS);
        SampleBatches.fixChecksums(sealed);
        ByteBuf opened = Unpooled.buffer();
        try {
            if (open(ORDERS, sealed, opened)) {
                OpenedBatch.contents(opened);
            }
        } catch (InvalidBatchException expected) {
            // The client reports it with the offset, as for any other batch.
            return;
        } finally {
            sealed.release();
        }
    }

    private void openRecord(
            TopicPartition partition,
            int epochNumber,
            SealMode mode,
            byte[] shownKey,
            byte[] content,
            boolean tombstone)
            throws GeneralSecurityException {
        EpochKeys epoch = epochs.get(epochNumber);
        Envelope envelope = KnownRealm.envelope(mode, epoch, epochNumber, number++);
        FieldWriter associated =
                envelope.associated(KnownRealm.NAME, partition, 0).nullable(shownKey);
        if (mode == SealMode.TOKEN) {
            associated.number8(tombstone ? 1 : 0);
        }
        SecretKeySpec key = epoch.key(mode, KnownRealm.NAME, partition);
        if (mode == SealMode.SUBJECT) {
            key = SubjectKeys.recordKey(subjectKey, key);
        }
        FrameCipher cipher = FrameCipher.borrow();
        System.arraycopy(content, 0, cipher.input(content.length), 0, content.length);
        int sealedBytes = cipher.sealRecord(key, envelope.number(), 0, associated.done(), content.length);
        byte[] sealed = Arrays.copyOf(cipher.output(), sealedBytes);
        cipher.giveBack();
        byte[] header = envelope.encode();
        if (tombstone) {
            header = new FieldWriter().bytes(header).bytes(sealed).done();
        }
        ByteBuf batch;
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(
                    SampleBatches.TIMESTAMP_MS,
                    shownKey,
                    tombstone ? null : sealed,
                    List.of(new Header(SealMark.HEADER, header)));
            batch = builder.build();
        }
        ByteBuf opened = Unpooled.buffer();
        try {
            if (open(partition, batch, opened)) {
                for (String record : OpenedBatch.contents(opened)) {
                    if (record.startsWith("null ")) {
                        throw new AssertionError("a record without a key in mode " + mode);
                    }
                    if (shownKey == SHREDDED_KEY) {
                        throw new AssertionError("a record of a subject whose key was destroyed");
                    }
                }
            }
        } catch (InvalidBatchException inconsistent) {
            throw new AssertionError("an opened record cannot be read", inconsistent);
        } finally {
            batch.release();
        }
    }

    /** Whether the batch is opened. */
    private boolean open(TopicPartition partition, ByteBuf sealed, ByteBuf out) {
        try (BatchOpener opener = policy.opener(keys)) {
            opener.start(partition, 0, "");
            opener.open(partition, sealed, 0, out);
            return true;
        } catch (SealViolationException refused) {
            return false;
        }
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_EXTRA_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
