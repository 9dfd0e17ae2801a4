package io.journalq.seal;

import static io.journalq.seal.KnownRealm.CUSTOMERS;
import static io.journalq.seal.KnownRealm.ORDERS;
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
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.List;

/**
 * What is behind a genuine tag. A sender can encrypt anything, and so can a reader together with the broker, because readers
 * have the key of the epoch. First byte: what is sealed, a batch, a record, a record with a token, or a tombstone with a
 * token; then the content. A record that is opened can be read, and has a key if it has a token.
 */
public final class SealedContentTarget implements FuzzTarget {
    private static final int BATCH = 0;
    private static final int RECORD = 1;
    private static final int TOKEN = 2;
    private static final int TOMBSTONE = 3;

    /** Signatures and key exchanges, and what a codec needs. */
    private static final long MAX_ALLOCATED_EXTRA_BYTES = 16L << 20;

    private static final int MAX_ALLOCATED_PER_BYTE = 500;
    private static final byte[] SHOWN_KEY = "0123456789abcdef".getBytes(US_ASCII);

    private final KnownRealm realm = new KnownRealm();
    private final SealPolicy policy = realm.policy(realm.vault);
    private final List<EpochKeys> epochs = List.of(EpochKeys.random(), EpochKeys.random(), EpochKeys.random());
    private final ShownKeys keys = new ShownKeys(
            List.of(
                    realm.packet(epochs.get(BATCH), ORDERS, false, List.of(realm.ofX25519())),
                    realm.packet(epochs.get(RECORD), PRICES, false, List.of(realm.ofX25519())),
                    realm.packet(epochs.get(TOKEN), CUSTOMERS, false, List.of(realm.ofX25519()))),
            realm.registry.sign(realm.root));

    /** The number of the next batch, which makes the nonce. What is read does not depend on it. */
    private long number;

    @Override
    public String name() {
        return "sealed-contents";
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
                seed(TOMBSTONE, withHeaders, key));
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
        int what = input[0] & 3;
        byte[] content = Arrays.copyOfRange(input, 1, input.length);
        switch (what) {
            case BATCH -> {
                if (content.length >= RecordBatch.HEADER_SIZE_BYTES) {
                    openBatch(content);
                }
            }
            case RECORD -> openRecord(PRICES, SealMode.RECORD, content, false);
            default -> openRecord(CUSTOMERS, SealMode.TOKEN, content, what == TOMBSTONE);
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

    private void openRecord(TopicPartition partition, SealMode mode, byte[] content, boolean tombstone)
            throws GeneralSecurityException {
        EpochKeys epoch = epochs.get(mode == SealMode.RECORD ? RECORD : TOKEN);
        Envelope envelope = KnownRealm.envelope(mode, epoch, mode == SealMode.RECORD ? RECORD : TOKEN, number++);
        FieldWriter associated =
                envelope.associated(KnownRealm.NAME, partition, 0).nullable(SHOWN_KEY);
        if (mode == SealMode.TOKEN) {
            associated.number8(tombstone ? 1 : 0);
        }
        FrameCipher cipher = FrameCipher.borrow();
        System.arraycopy(content, 0, cipher.input(content.length), 0, content.length);
        int sealedBytes = cipher.sealRecord(
                epoch.key(mode, KnownRealm.NAME, partition), envelope.number(), 0, associated.done(), content.length);
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
                    SHOWN_KEY,
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
            opener.start(partition, "");
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
