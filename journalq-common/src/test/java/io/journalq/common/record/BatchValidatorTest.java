package io.journalq.common.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.KafkaBatches.Message;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.requests.ProduceRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class BatchValidatorTest {
    private static final int VERSION = 12;
    private static final long NOW_MS = KafkaBatches.BASE_MS;

    private final DecompressionRoom room = DecompressionRoom.ofSmall(PooledByteBufAllocator.DEFAULT);
    private final BatchValidator validator = new BatchValidator(room);

    @AfterEach
    void giveMemoryBack() {
        room.close();
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldSumUpWhenKafkaSentASoundBatch(CompressionCodec codec) {
        // given
        List<Message> messages = List.of(message(NOW_MS), message(NOW_MS + 9), message(NOW_MS + 9), message(NOW_MS));
        ByteBuf batch = KafkaBatches.writtenByKafka(codec, messages);
        ByteBuf before = batch.copy();

        // when
        BatchValidation result = validate(batch);

        // then
        assertThat(result.message()).isNull();
        assertThat(result.isSound()).isTrue();
        assertThat(result.recordCount()).isEqualTo(4);
        assertThat(result.sizeBytes()).isEqualTo(batch.readableBytes());
        assertThat(result.maxTimestampMs()).isEqualTo(NOW_MS + 9);
        assertThat(result.maxTimestampOffsetDelta()).isEqualTo(1);
        assertThat(result.producerId()).isEqualTo(RecordBatch.NO_PRODUCER_ID);
        assertThat(result.isTransactional()).isFalse();
        assertThat(result.codec()).isEqualTo(codec);
        assertThat(batch).isEqualTo(before);
    }

    @Test
    void shouldTellTheProducerWhenTheBatchIsTransactional() {
        ByteBuf batch = sound();
        batch.setLong(RecordBatch.PRODUCER_ID, 8)
                .setShort(RecordBatch.PRODUCER_EPOCH, 2)
                .setInt(RecordBatch.BASE_SEQUENCE, 33)
                .setShort(RecordBatch.ATTRIBUTES, RecordBatch.TRANSACTIONAL_FLAG);

        BatchValidation result = validate(sealed(batch));

        assertThat(result.isSound()).isTrue();
        assertThat(result.producerId()).isEqualTo(8);
        assertThat(result.producerEpoch()).isEqualTo((short) 2);
        assertThat(result.baseSequence()).isEqualTo(33);
        assertThat(result.isTransactional()).isTrue();
    }

    @Test
    void shouldRefuseWhenThereIsNothing() {
        assertThat(validate(null).error()).isEqualTo(ErrorCode.INVALID_RECORD);
        assertThat(validate(Unpooled.EMPTY_BUFFER).error()).isEqualTo(ErrorCode.INVALID_RECORD);
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldRefuseWhenTheBatchIsCutOffOrABitIsFlipped(CompressionCodec codec) {
        ByteBuf batch = KafkaBatches.writtenByKafka(codec, KafkaBatches.messages(5));
        for (int length = 1; length < batch.readableBytes(); length++) {
            assertThat(validate(batch.slice(0, length)).error()).isEqualTo(ErrorCode.CORRUPT_MESSAGE);
        }
        // Base offset and leader epoch are the broker's to set; the CRC does not cover them.
        for (int index = RecordBatch.MAGIC; index < batch.readableBytes(); index++) {
            for (int bit = 0; bit < 8; bit++) {
                batch.setByte(index, batch.getByte(index) ^ (1 << bit));
                assertThat(validate(batch).isSound()).isFalse();
                batch.setByte(index, batch.getByte(index) ^ (1 << bit));
            }
        }
        assertThat(validate(batch).isSound()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldOnlyAcceptWhatKafkaReadsWhenBytesAreBadUnderARightChecksum(CompressionCodec codec) {
        // given
        ByteBuf sound = KafkaBatches.writtenByKafka(codec, KafkaBatches.messages(20));
        Random random = new Random(codec.id());
        int refused = 0;
        for (int round = 0; round < 1500; round++) {
            ByteBuf bad = sound.copy();
            for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
                int at = RecordBatch.ATTRIBUTES + random.nextInt(bad.readableBytes() - RecordBatch.ATTRIBUTES);
                bad.setByte(at, random.nextInt(256));
            }

            // when
            BatchValidation result = validate(sealed(bad));

            // then
            if (result.isSound()) {
                int count = 0;
                for (var record : KafkaBatches.readByKafka(bad).records()) {
                    assertThat(record.offset()).isEqualTo(count++);
                }
                assertThat(count).isEqualTo(result.recordCount());
            } else {
                refused++;
                assertThat(result.message()).isNotEmpty();
            }
        }
        assertThat(refused).isPositive();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldRefuseWithKafkasErrorWhenTheFormatIsOld(int magic) {
        var builder = MemoryRecords.builder(
                ByteBuffer.allocate(500),
                (byte) magic,
                KafkaBatches.compression(CompressionCodec.NONE),
                magic == 0 ? TimestampType.NO_TIMESTAMP_TYPE : TimestampType.CREATE_TIME,
                0);
        builder.append(new SimpleRecord(magic == 0 ? -1 : 1, new byte[100]));

        MemoryRecords records = builder.build();

        ErrorCode error = validate(KafkaBatches.copy(records)).error();

        // A Kafka broker asks this of its request, and responds with the error of the exception that it throws.
        Throwable refusal = catchThrowable(() -> ProduceRequest.validateRecords((short) VERSION, records));
        assertThat(refusal).isNotNull();
        assertThat(error.code()).isEqualTo(Errors.forException(refusal).code());
        assertThat(error).isEqualTo(ErrorCode.INVALID_RECORD);
    }

    @Test
    void shouldRefuseWhenThereIsMoreThanOneBatch() {
        ByteBuf batch = sound();
        assertThat(validate(Unpooled.copiedBuffer(batch, batch)).error()).isEqualTo(ErrorCode.INVALID_RECORD);
        assertThat(validate(Unpooled.copiedBuffer(batch, Unpooled.wrappedBuffer(new byte[5])))
                        .error())
                .isEqualTo(ErrorCode.CORRUPT_MESSAGE);
    }

    @Test
    void shouldRefuseWhenTheBatchIsLargerThanTheTopicAllows() {
        ByteBuf batch = sound();
        int sizeBytes = batch.readableBytes();

        assertThat(validate(batch, rules(sizeBytes, false, false, true)).isSound())
                .isTrue();
        assertThat(validate(batch, rules(sizeBytes - 1, false, false, true)).error())
                .isEqualTo(ErrorCode.MESSAGE_TOO_LARGE);
    }

    @Test
    void shouldRefuseWhenAClientSendsAControlBatch() {
        MemoryRecords marker = MemoryRecords.withEndTransactionMarker(
                NOW_MS, 9L, (short) 3, new EndTransactionMarker(ControlRecordType.COMMIT, 4));

        assertThat(validate(KafkaBatches.copy(marker)).error()).isEqualTo(ErrorCode.INVALID_RECORD);
    }

    @Test
    void shouldRefuseWhenCountAndOffsetsDisagree() {
        ByteBuf batch = sound();
        int[][] countsAndDeltas = {{0, -1}, {3, 3}, {4, 2}, {2, 1}, {-1, -2}, {Integer.MIN_VALUE, Integer.MAX_VALUE}};
        for (int[] pair : countsAndDeltas) {
            batch.setInt(RecordBatch.RECORD_COUNT, pair[0]).setInt(RecordBatch.LAST_OFFSET_DELTA, pair[1]);
            assertThat(validate(sealed(batch)).error()).isEqualTo(ErrorCode.INVALID_RECORD);
        }
        batch.setInt(RecordBatch.RECORD_COUNT, Integer.MAX_VALUE)
                .setInt(RecordBatch.LAST_OFFSET_DELTA, Integer.MAX_VALUE - 1);
        assertThat(validate(sealed(batch)).error()).isEqualTo(ErrorCode.INVALID_RECORD);
    }

    @Test
    void shouldRefuseWhenOffsetsLeaveAGap() {
        var builder = MemoryRecords.builder(
                ByteBuffer.allocate(500),
                KafkaBatches.compression(CompressionCodec.NONE),
                TimestampType.CREATE_TIME,
                0);
        builder.appendWithOffset(0, new SimpleRecord(NOW_MS, new byte[1]));
        builder.appendWithOffset(2, new SimpleRecord(NOW_MS, new byte[1]));
        ByteBuf batch = KafkaBatches.copy(builder.build());
        batch.setInt(RecordBatch.LAST_OFFSET_DELTA, 1);

        assertThat(validate(sealed(batch)).error()).isEqualTo(ErrorCode.INVALID_RECORD);
    }

    @Test
    void shouldRefuseWhenTheCodecIsUnknownOrTooNew() {
        ByteBuf batch = sound();
        for (int id = 5; id <= 7; id++) {
            batch.setShort(RecordBatch.ATTRIBUTES, id);
            assertThat(validate(sealed(batch)).error()).isEqualTo(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE);
        }
        ByteBuf zstd = KafkaBatches.writtenByKafka(CompressionCodec.ZSTD, KafkaBatches.messages(2));
        assertThat(validator.validate(zstd, 6, BatchRules.DEFAULT, NOW_MS).error())
                .isEqualTo(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE);
        assertThat(validator.validate(zstd, 7, BatchRules.DEFAULT, NOW_MS).isSound())
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldRefuseWhenDatesAreTooFarFromNow(boolean deep) {
        BatchRules rules = rules(1000, false, false, deep);
        assertThat(validate(single(NOW_MS + 500), rules).isSound()).isTrue();
        assertThat(validate(single(NOW_MS - 500), rules).isSound()).isTrue();
        assertThat(validate(single(RecordBatch.NO_TIMESTAMP), rules).isSound()).isTrue();
        assertThat(validate(single(NOW_MS + 501), rules).error()).isEqualTo(ErrorCode.INVALID_TIMESTAMP);
        assertThat(validate(single(NOW_MS - 501), rules).error()).isEqualTo(ErrorCode.INVALID_TIMESTAMP);
        assertThat(validate(single(0), rules(1000, true, false, deep)).isSound())
                .isTrue();
    }

    @Test
    void shouldRefuseKeylessRecordsWhenTheTopicIsCompacted() {
        ByteBuf keyless = KafkaBatches.writtenByKafka(
                CompressionCodec.LZ4, List.of(message(NOW_MS), new Message(NOW_MS, null, new byte[1], List.of())));

        assertThat(validate(keyless, rules(1000, false, true, true)).error()).isEqualTo(ErrorCode.INVALID_RECORD);
        assertThat(validate(sound(), rules(1000, false, true, true)).isSound()).isTrue();
    }

    @Test
    void shouldRefuseWhenProducerFieldsDoNotFit() {
        ByteBuf batch = sound();
        batch.setLong(RecordBatch.PRODUCER_ID, 8).setShort(RecordBatch.PRODUCER_EPOCH, 0);
        assertThat(validate(sealed(batch)).error()).isEqualTo(ErrorCode.INVALID_RECORD);
        batch.setLong(RecordBatch.PRODUCER_ID, -1).setShort(RecordBatch.ATTRIBUTES, RecordBatch.TRANSACTIONAL_FLAG);
        assertThat(validate(sealed(batch)).error()).isEqualTo(ErrorCode.INVALID_RECORD);
    }

    @Test
    void shouldNameTheRecordsThatAreNotAccepted() {
        // given two records too far in the future, and one without a key
        ByteBuf batch = KafkaBatches.writtenByKafka(
                CompressionCodec.LZ4,
                List.of(
                        message(NOW_MS),
                        message(NOW_MS + 600),
                        new Message(NOW_MS, null, new byte[1], List.of()),
                        message(NOW_MS + 601)));

        // when the topic does not mind keys
        BatchValidation result = validate(batch, rules(1000, false, false, true));

        // then
        assertThat(result.error()).isEqualTo(ErrorCode.INVALID_TIMESTAMP);
        assertThat(result.recordErrors())
                .extracting(BatchValidation.RecordError::index)
                .containsExactly(1, 3);
        assertThat(result.message()).startsWith("2 of 4 records are not accepted: record 1: the timestamp ");

        // and when it does, a wrong date still decides on the error
        result = validate(batch, rules(1000, false, true, true));
        assertThat(result.error()).isEqualTo(ErrorCode.INVALID_TIMESTAMP);
        assertThat(result.recordErrors())
                .extracting(BatchValidation.RecordError::index)
                .containsExactly(1, 2, 3);

        // and nothing of it stays for the next batch
        assertThat(validate(sound()).recordErrors()).isEmpty();
    }

    @Test
    void shouldNameABoundedNumberOfRecordsWhenAllAreWrong() {
        List<Message> messages = Collections.nCopies(
                BatchValidator.MAX_RECORD_ERRORS + 1, new Message(NOW_MS, null, new byte[1], List.of()));

        BatchValidation result = validate(
                KafkaBatches.writtenByKafka(CompressionCodec.NONE, messages), rules(100_000, false, true, true));

        assertThat(result.error()).isEqualTo(ErrorCode.INVALID_RECORD);
        assertThat(result.recordErrors()).hasSize(BatchValidator.MAX_RECORD_ERRORS);
        assertThat(result.message()).startsWith("101 of 101 records").endsWith("; and others");
    }

    @Test
    void shouldRefuseWhenTheClientClaimsTheBrokersTime() {
        ByteBuf batch = sound();
        batch.setShort(RecordBatch.ATTRIBUTES, RecordBatch.LOG_APPEND_TIME_FLAG);

        assertThat(validate(sealed(batch)).error()).isEqualTo(ErrorCode.INVALID_TIMESTAMP);
    }

    @Test
    void shouldCorrectTheHeaderWhenItsLargestTimestampIsNotTheRecords() {
        // given
        ByteBuf batch = sound();
        RecordBatch.setMaxTimestamp(batch, 0, NOW_MS + 400);

        // when
        BatchValidation result = validate(sealed(batch));

        // then
        assertThat(result.isSound()).isTrue();
        assertThat(result.maxTimestampMs()).isEqualTo(NOW_MS + 2);
        assertThat(KafkaBatches.readByKafka(batch).batches()).hasSize(1).allSatisfy(kafka -> {
            kafka.ensureValid();
            assertThat(kafka.maxTimestamp()).isEqualTo(NOW_MS + 2);
        });
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldRefuseABombWhenItPassesTheLimit(CompressionCodec codec) {
        Message large = new Message(NOW_MS, new byte[1], new byte[900_000], List.of());
        ByteBuf bomb = KafkaBatches.writtenByKafka(codec, List.of(large));
        BatchRules rules = new BatchRules(1_000_000, 800_000, 100, 500, 500, false, false, true, false);

        BatchValidation result = validate(bomb, rules);

        assertThat(result.isSound()).isEqualTo(codec == CompressionCodec.NONE);
    }

    @ParameterizedTest
    @EnumSource(
            value = CompressionCodec.class,
            names = {"NONE"},
            mode = EnumSource.Mode.EXCLUDE)
    void shouldLeaveABatchUndecidedWhenThereIsNotRoomEnough(CompressionCodec codec) {
        // given
        Message large = new Message(NOW_MS, new byte[1], new byte[900_000], List.of());
        ByteBuf batch = KafkaBatches.writtenByKafka(codec, List.of(large));
        BatchRules rules = new BatchRules(1_000_000, 1_000_000, 100, 500, 500, false, false, true, false);

        // when
        BatchValidation cramped = validator.validate(batch, VERSION, rules, NOW_MS, 800_000);

        // then it is neither
        assertThat(cramped.isUndecided()).isTrue();
        assertThat(cramped.isSound()).isFalse();
        assertThat(cramped.error()).isEqualTo(ErrorCode.NONE);

        // and with room it is sound
        BatchValidation roomy = validate(batch, rules);
        assertThat(roomy.isSound()).isTrue();
        assertThat(roomy.isUndecided()).isFalse();
        assertThat(roomy.decompressedSizeBytes()).isBetween(900_000, 1_000_000);
    }

    @ParameterizedTest
    @EnumSource(names = {"LZ4", "ZSTD"})
    void shouldNotDecompressABatchWhenItsFramesTellThatThereIsNotRoomEnough(CompressionCodec codec) {
        // given
        Message large = new Message(NOW_MS, new byte[1], new byte[3_000_000], List.of());
        ByteBuf batch = KafkaBatches.writtenByKafka(codec, List.of(large));
        BatchRules rules = new BatchRules(1_000_000, 4_000_000, 100, 500, 500, false, false, true, false);

        // when
        BatchValidation cramped = validator.validate(batch, VERSION, rules, NOW_MS, 2_000_000);

        // then
        assertThat(cramped.isUndecided()).isTrue();
        assertThat(cramped.decompressedSizeBytes()).isZero();

        // and it is not refused for what its frames look like
        assertThat(validate(batch, rules).isSound()).isTrue();
    }

    @Test
    void shouldAcceptOnlySealedRecordsWhenTheTopicRequiresThem() {
        byte[] key = KafkaBatches.bytes("key");
        byte[] value = KafkaBatches.bytes("value");
        Message whole = sealedMessage(1, null, new byte[0]);
        Message empty = new Message(NOW_MS, null, new byte[0], List.of());
        Message single = sealedMessage(2, key, value);
        Message tombstone = new Message(NOW_MS, key, null, List.of());
        Message plain = new Message(NOW_MS, key, value, List.of());
        Header mark = whole.headers().get(0);

        assertThat(refusal(false, whole)).isNull();
        assertThat(refusal(false, whole, empty, empty)).isNull();
        assertThat(refusal(true, single, tombstone, single)).isNull();
        assertThat(refusal(true, tombstone)).isNull();
        assertThat(refusal(true, sealedMessage(SealMark.TOKEN, key, value), sealedMessage(SealMark.TOKEN, key, null)))
                .as("with tokens, also a tombstone is sealed")
                .isNull();
        assertThat(refusal(true, sealedMessage(SealMark.SUBJECT, key, value), tombstone))
                .isNull();

        assertThat(refusal(false, plain)).contains("record 0 is not sealed").contains("encryption.required");
        assertThat(refusal(false, single, plain)).contains("record 1 is not sealed");
        assertThat(refusal(false, empty)).contains("record 0 is not sealed");
        assertThat(refusal(false, whole, plain)).contains("record 1 of the sealed batch has readable content");
        assertThat(refusal(false, sealedMessage(1, null, value))).contains("record 0 of the sealed batch");
        assertThat(refusal(false, sealedMessage(1, key, new byte[0]))).contains("record 0 of the sealed batch");
        assertThat(refusal(true, whole)).contains("mode batch");
        assertThat(refusal(true, single, whole)).contains("record 1 is not sealed");
        assertThat(refusal(false, sealedMessage(5, null, new byte[0]))).contains("is not sealed");
        assertThat(refusal(false, new Message(NOW_MS, null, new byte[0], List.of(mark, mark))))
                .as("two envelopes")
                .contains("is not sealed");
        assertThat(refusal(true, new Message(NOW_MS, key, null, List.of(new Header("secret", value)))))
                .as("a tombstone with headers")
                .contains("is not sealed");
        for (byte[] envelope : new byte[][] {null, {}, KafkaBatches.bytes("JQE1"), KafkaBatches.bytes("jqe1\1....")}) {
            assertThat(refusal(
                            false,
                            new Message(NOW_MS, null, new byte[0], List.of(new Header(SealMark.HEADER, envelope)))))
                    .contains("is not sealed");
        }
        BatchValidation compressed =
                validate(KafkaBatches.writtenByKafka(CompressionCodec.GZIP, List.of(whole)), sealRules(false));
        assertThat(compressed.message()).contains("compressed after it was sealed");
        assertThat(compressed.error()).isEqualTo(ErrorCode.INVALID_RECORD);
        assertThat(validate(
                                KafkaBatches.writtenByKafka(CompressionCodec.ZSTD, List.of(single, single)),
                                sealRules(true))
                        .isSound())
                .isTrue();
    }

    private static BatchRules sealRules(boolean compacted) {
        return new BatchRules(100_000, 100_000, 100, 500, 500, false, compacted, true, true);
    }

    private static Message sealedMessage(int mode, byte[] key, byte[] value) {
        byte[] envelope = ("JQE1" + (char) mode + "x".repeat(39)).getBytes(StandardCharsets.US_ASCII);
        return new Message(NOW_MS, key, value, List.of(new Header(SealMark.HEADER, envelope)));
    }

    /** Why a batch is refused in a topic that requires sealed ones; null if it is not. */
    private String refusal(boolean compacted, Message... messages) {
        return validate(KafkaBatches.writtenByKafka(CompressionCodec.NONE, List.of(messages)), sealRules(compacted))
                .message();
    }

    private BatchValidation validate(ByteBuf records) {
        return validate(records, BatchRules.DEFAULT);
    }

    private BatchValidation validate(ByteBuf records, BatchRules rules) {
        return validator.validate(records, VERSION, rules, NOW_MS);
    }

    private static BatchRules rules(int maxBytes, boolean logAppendTime, boolean keysRequired, boolean deep) {
        return new BatchRules(maxBytes, 1_000_000, 100, 500, 500, logAppendTime, keysRequired, deep, false);
    }

    private static Message message(long timestampMs) {
        return new Message(timestampMs, KafkaBatches.bytes("key"), KafkaBatches.bytes("value"), List.of());
    }

    /** Three records, the last the youngest, not compressed. */
    private static ByteBuf sound() {
        return KafkaBatches.writtenByKafka(
                CompressionCodec.NONE, List.of(message(NOW_MS), message(NOW_MS + 1), message(NOW_MS + 2)));
    }

    private static ByteBuf single(long timestampMs) {
        return KafkaBatches.writtenByKafka(CompressionCodec.NONE, List.of(message(timestampMs)));
    }

    private static ByteBuf sealed(ByteBuf batch) {
        RecordBatch.setCrc(batch, 0, Crc32c.ofBatch(batch, 0, batch.readableBytes()));
        return batch;
    }
}
