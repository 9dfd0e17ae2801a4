package io.journalq.seal;

import static io.journalq.seal.SealedWorld.ORDERS;
import static io.journalq.seal.SealedWorld.PRICES;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.BatchSealer;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.BatchRewriter;
import io.journalq.common.record.BatchRules;
import io.journalq.common.record.BatchValidation;
import io.journalq.common.record.BatchValidator;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.DecompressionRoom;
import io.journalq.common.record.Header;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Both formats of sealed batches, and everything that a hostile broker can do to them. */
class SealedBatchTest {
    private static final int PRODUCE_VERSION = 12;
    private static final long NOW_MS = 1_700_000_000_000L;
    private static final long OFFSET = 4_711;

    private SealedWorld world;
    private BatchSealer sealer;
    private BatchOpener opener;

    @BeforeEach
    void begin() throws Exception {
        world = new SealedWorld();
        sealer = world.sealer();
        opener = world.opener();
    }

    @AfterEach
    void end() {
        world.close();
    }

    private static List<SealedWorld.Plain> records(ByteBuf plain, long baseOffset) {
        RecordBatch.setBaseOffset(plain, 0, baseOffset);
        return SealedWorld.read(plain);
    }

    private static Reason reasonOf(Throwable thrown) {
        assertThat(thrown).isInstanceOf(SealViolationException.class);
        return ((SealViolationException) thrown).reason();
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldReturnTheRecordsWhenABatchIsSealedAndOpened(CompressionCodec codec) {
        for (SealMode mode : SealMode.values()) {
            ByteBuf plain = SealedWorld.batch(codec, 20, 100);
            List<SealedWorld.Plain> expected = records(plain, OFFSET);

            byte[] sealed = SealedWorld.seal(sealer, SealedWorld.topicOf(mode), plain, OFFSET);

            assertThat(SealedWorld.open(opener, SealedWorld.topicOf(mode), sealed))
                    .as("%s", mode)
                    .isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {65_536 - 21, 65_536, 3 * 65_536 - 200, 700_000})
    void shouldReturnTheRecordsWhenABatchHasSeveralFrames(int valueBytes) {
        ByteBuf plain = SealedWorld.batch(CompressionCodec.NONE, 1, valueBytes);
        List<SealedWorld.Plain> expected = records(plain, OFFSET);

        byte[] sealed = SealedWorld.seal(sealer, ORDERS, plain, OFFSET);

        assertThat(SealedWorld.open(opener, ORDERS, sealed)).isEqualTo(expected);
    }

    @ParameterizedTest
    @EnumSource(SealMode.class)
    void shouldBeAValidBatchWithoutPlainTextWhenABrokerChecksIt(SealMode mode) {
        byte[] sealed = SealedWorld.seal(
                sealer, SealedWorld.topicOf(mode), SealedWorld.batch(CompressionCodec.NONE, 20, 100), 0);

        try (DecompressionRoom room = DecompressionRoom.ofSmall(ByteBufAllocator.DEFAULT)) {
            BatchValidation validation = new BatchValidator(room)
                    .validate(Unpooled.wrappedBuffer(sealed), PRODUCE_VERSION, BatchRules.DEFAULT, NOW_MS);
            assertThat(validation.message()).isNull();
            assertThat(validation.recordCount()).isEqualTo(20);
            assertThat(validation.producerId()).isEqualTo(77);
            assertThat(validation.baseSequence()).isEqualTo(5);
            assertThat(validation.maxTimestampMs()).isEqualTo(NOW_MS + 19);
        }
        String bytes = new String(sealed, java.nio.charset.StandardCharsets.ISO_8859_1);
        assertThat(bytes).doesNotContain("value-").doesNotContain("header-");
        if (mode == SealMode.BATCH || mode == SealMode.TOKEN) {
            assertThat(bytes).doesNotContain("key-");
        }
    }

    @Test
    void shouldReturnTheSameRecordsOrNoneWhenAnyByteIsChanged() {
        BatchOpener reader = world.openerThatKeepsTheRegistry(world.readerVault);
        for (SealMode mode : SealMode.values()) {
            TopicPartition topic = SealedWorld.topicOf(mode);
            byte[] sealed = SealedWorld.seal(sealer, topic, SealedWorld.batch(CompressionCodec.LZ4, 3, 20), OFFSET);
            List<String> expected = contents(SealedWorld.open(reader, topic, sealed));
            int refused = 0;
            for (int i = 0; i < sealed.length; i++) {
                byte[] changed = sealed.clone();
                changed[i] ^= 0x11;
                reader.start(topic, OFFSET, "");
                if (RecordBatch.sizeBytes(Unpooled.wrappedBuffer(changed), 0) != sealed.length) {
                    // The reader of the batch does not come here: the length is wrong.
                    continue;
                }
                Throwable thrown = catchThrowable(() -> assertThat(contents(SealedWorld.open(reader, topic, changed)))
                        .isEqualTo(expected));
                if (thrown != null) {
                    assertThat(thrown).as("byte %d of %s", i, mode).isInstanceOf(SealViolationException.class);
                    refused++;
                }
            }
            // Offsets, times and the state of the producer around the seal belong to the broker.
            assertThat(refused).as("%s", mode).isGreaterThan(sealed.length / 2);
        }
    }

    private static List<String> contents(List<SealedWorld.Plain> records) {
        return records.stream()
                .map(record -> record.key() + record.value() + record.headers())
                .toList();
    }

    @ParameterizedTest
    @EnumSource(SealMode.class)
    void shouldRefuseABatchWhenItComesFromAnotherPartition(SealMode mode) {
        TopicPartition topic = SealedWorld.topicOf(mode);
        byte[] sealed = SealedWorld.seal(sealer, topic, SealedWorld.batch(CompressionCodec.NONE, 2, 5), OFFSET);

        Throwable thrown = catchThrowable(() -> SealedWorld.open(opener, new TopicPartition(topic.topic(), 1), sealed));

        assertThat(reasonOf(thrown)).isEqualTo(Reason.WRONG_TAG);
        assertThat(((SealViolationException) thrown).partition().partition()).isEqualTo(1);
        assertThat(((SealViolationException) thrown).offset()).isEqualTo(OFFSET);
    }

    @Test
    void shouldRefuseABatchWhenItComesFromAnotherTopic() {
        world.admin.change(registry -> registry.withTopic("refunds", SealMode.BATCH, List.of(SealedWorld.ROLE)));
        byte[] sealed = SealedWorld.seal(sealer, ORDERS, SealedWorld.batch(CompressionCodec.NONE, 2, 5), OFFSET);

        assertThat(reasonOf(catchThrowable(() -> SealedWorld.open(opener, new TopicPartition("refunds", 0), sealed))))
                .isEqualTo(Reason.WRONG_TAG);
    }

    @ParameterizedTest
    @EnumSource(SealMode.class)
    void shouldRefuseABatchWhenItComesTwiceOrLate(SealMode mode) {
        TopicPartition topic = SealedWorld.topicOf(mode);
        byte[] first = SealedWorld.seal(sealer, topic, SealedWorld.batch(CompressionCodec.NONE, 2, 5), 0);
        byte[] second = SealedWorld.seal(sealer, topic, SealedWorld.batch(CompressionCodec.NONE, 2, 5), 2);
        byte[] replayed = first.clone();
        Unpooled.wrappedBuffer(replayed).setLong(RecordBatch.BASE_OFFSET, 4);

        SealedWorld.open(opener, topic, first);
        SealedWorld.open(opener, topic, second);

        assertThat(reasonOf(catchThrowable(() -> SealedWorld.open(opener, topic, replayed))))
                .isEqualTo(Reason.WRONG_ORDER);
        // The one that was read last may come again, because a position can be within it.
        assertThat(SealedWorld.open(opener, topic, second)).hasSize(2);
    }

    @Test
    void shouldRefuseABatchWhenItWasReadBeforeARestart() {
        byte[] first = SealedWorld.seal(sealer, ORDERS, SealedWorld.batch(CompressionCodec.NONE, 2, 5), 0);
        SealedWorld.open(opener, ORDERS, first);
        String committed = opener.state(ORDERS);
        BatchOpener restarted = world.opener();

        restarted.start(ORDERS, 2, committed);

        assertThat(reasonOf(catchThrowable(() -> SealedWorld.open(restarted, ORDERS, first))))
                .isEqualTo(Reason.WRONG_ORDER);
        restarted.start(ORDERS, 0, "");
        assertThat(SealedWorld.open(restarted, ORDERS, first)).hasSize(2);
    }

    @ParameterizedTest
    @EnumSource(SealMode.class)
    void shouldCountOrRefuseAGapWhenBatchesAreMissing(SealMode mode) {
        TopicPartition topic = SealedWorld.topicOf(mode);
        byte[] first = SealedWorld.seal(sealer, topic, SealedWorld.batch(CompressionCodec.NONE, 2, 5), 0);
        SealedWorld.seal(sealer, topic, SealedWorld.batch(CompressionCodec.NONE, 2, 5), 2);
        byte[] third = SealedWorld.seal(sealer, topic, SealedWorld.batch(CompressionCodec.NONE, 2, 5), 4);
        try (BatchOpener strict =
                world.policy(world.readerVault).refuseGaps().build().opener(world.keys)) {
            SealedWorld.open(opener, topic, first);
            SealedWorld.open(strict, topic, first);

            assertThat(SealedWorld.open(opener, topic, third)).hasSize(2);
            Throwable refusal = catchThrowable(() -> SealedWorld.open(strict, topic, third));

            // Compaction removes batches in the other modes.
            boolean isGap = mode == SealMode.BATCH;
            assertThat(opener.missingBatches()).isEqualTo(isGap ? 1 : 0);
            assertThat(refusal == null ? null : reasonOf(refusal)).isEqualTo(isGap ? Reason.MISSING_BATCHES : null);
        }
    }

    @Test
    void shouldRefuseABatchWhenItIsNotSealed() {
        ByteBuf plain = SealedWorld.batch(CompressionCodec.NONE, 2, 5);
        byte[] bytes = ByteBufUtil.getBytes(plain);
        plain.release();

        for (SealMode mode : SealMode.values()) {
            assertThat(reasonOf(catchThrowable(() -> SealedWorld.open(opener, SealedWorld.topicOf(mode), bytes))))
                    .isEqualTo(Reason.PLAIN_BATCH);
        }
    }

    @Test
    void shouldRefuseARecordWhenItsValueIsMovedToAnotherKey() {
        byte[] sealed = SealedWorld.seal(sealer, PRICES, SealedWorld.batch(CompressionCodec.NONE, 1, 5), 0);
        byte[] key = "key-0".getBytes(UTF_8);
        int at = new String(sealed, java.nio.charset.StandardCharsets.ISO_8859_1).indexOf("key-0");
        sealed[at + key.length - 1] = '9';

        assertThat(reasonOf(catchThrowable(() -> SealedWorld.open(opener, PRICES, sealed))))
                .isEqualTo(Reason.WRONG_TAG);
    }

    @Test
    void shouldRefuseABatchWhenTheEpochOfAnotherSenderIsNamed() {
        byte[] one = SealedWorld.seal(sealer, ORDERS, SealedWorld.batch(CompressionCodec.NONE, 1, 5), 0);
        byte[] other = SealedWorld.seal(world.sealer(), ORDERS, SealedWorld.batch(CompressionCodec.NONE, 1, 5), 1);
        int envelope = new String(one, java.nio.charset.StandardCharsets.ISO_8859_1).indexOf("JQE1");
        // when epoch and packet of one batch are put into the other
        System.arraycopy(other, envelope + 8, one, envelope + 8, 24);

        assertThat(reasonOf(catchThrowable(() -> SealedWorld.open(opener, ORDERS, one))))
                .isEqualTo(Reason.WRONG_TAG);
    }

    @Test
    void shouldOpenABatchWhenItsProducerStateHasChangedOnTheWay() {
        ByteBuf plain = SealedWorld.batch(CompressionCodec.NONE, 2, 5);
        List<SealedWorld.Plain> expected = records(plain, 0);
        byte[] sealed = SealedWorld.seal(sealer, ORDERS, plain, 0);
        ByteBuf renumbered = Unpooled.wrappedBuffer(sealed);
        renumbered.setLong(RecordBatch.PRODUCER_ID, 78);
        renumbered.setInt(RecordBatch.BASE_SEQUENCE, 0);

        assertThat(SealedWorld.open(opener, ORDERS, sealed)).isEqualTo(expected);
    }

    @Test
    void shouldRefuseABatchWhenItsRecordsComeTwiceOrInAnotherOrder() {
        byte[] sealed = SealedWorld.seal(sealer, PRICES, SealedWorld.batch(CompressionCodec.NONE, 3, 5), 0);

        assertThat(SealedWorld.open(world.opener(), PRICES, compacted(sealed, 0, 2)))
                .as("compaction removed one")
                .hasSize(2);
        for (int[] order : new int[][] {{1, 0, 2}, {0, 0, 1}, {0, 2, 1}, {2, 2}}) {
            assertThat(reasonOf(
                            catchThrowable(() -> SealedWorld.open(world.opener(), PRICES, arranged(sealed, order)))))
                    .isEqualTo(Reason.WRONG_ORDER);
        }
    }

    /** A batch with some of the records of another one at their offsets, as compaction writes it. */
    private static byte[] compacted(byte[] sealed, int... kept) {
        BitSet indexes = new BitSet();
        for (int index : kept) {
            indexes.set(index);
        }
        try (BatchReader reader = new BatchReader(ByteBufAllocator.DEFAULT);
                BatchRewriter rewriter = new BatchRewriter(ByteBufAllocator.DEFAULT)) {
            reader.reset(Unpooled.wrappedBuffer(sealed));
            reader.nextBatch();
            ByteBuf batch = rewriter.rewrite(reader, indexes, BatchRewriter.SAME_HORIZON);
            byte[] bytes = ByteBufUtil.getBytes(batch);
            batch.release();
            return bytes;
        }
    }

    /** A batch with some of the records of another one, as a broker can write it. */
    private static byte[] arranged(byte[] sealed, int... order) {
        List<SealedRecord> records = new ArrayList<>();
        try (BatchReader reader = new BatchReader(ByteBufAllocator.DEFAULT)) {
            reader.reset(Unpooled.wrappedBuffer(sealed));
            reader.nextBatch();
            while (reader.next()) {
                records.add(new SealedRecord(
                        ByteBufUtil.getBytes(reader.key()), ByteBufUtil.getBytes(reader.value()), reader.headers()));
            }
        }
        try (BatchBuilder builder = new BatchBuilder(ByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            for (int index : order) {
                SealedRecord record = records.get(index);
                builder.append(NOW_MS, record.key, record.value, record.headers);
            }
            ByteBuf batch = builder.build();
            byte[] bytes = ByteBufUtil.getBytes(batch);
            batch.release();
            return bytes;
        }
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record SealedRecord(byte[] key, byte[] value, List<Header> headers) {}

    @Test
    void shouldSealNothingWithTheOverwrittenSecretWhenTheSealerIsClosed() {
        sealer.prepare(ORDERS.topic());
        BatchSealer.Place place = sealer.place(ORDERS);
        sealer.close();
        ByteBuf plain = SealedWorld.batch(CompressionCodec.NONE, 2, 5);

        assertThatThrownBy(() -> place.seal(plain)).isInstanceOf(IllegalStateException.class);
        assertThat(plain.refCnt()).isZero();
    }

    @Test
    void shouldFailTheBatchWhenKeysWereNotPrepared() {
        ByteBuf plain = SealedWorld.batch(CompressionCodec.NONE, 2, 5);

        BatchSealer.Place place = sealer.place(new TopicPartition("unprepared", 0));

        assertThatThrownBy(() -> place.seal(plain)).hasMessageContaining("not prepared");
        assertThat(plain.refCnt()).isZero();
    }
}
