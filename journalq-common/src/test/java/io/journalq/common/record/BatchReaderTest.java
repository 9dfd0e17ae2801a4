package io.journalq.common.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.record.KafkaBatches.Message;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BatchReaderTest {
    private final BatchReader reader = new BatchReader(PooledByteBufAllocator.DEFAULT);

    @AfterEach
    void close() {
        reader.close();
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldReadWhatKafkaWroteWhenBatchesStandBackToBack(CompressionCodec codec) {
        // given
        List<Message> messages = KafkaBatches.messages(120);
        ByteBuf one = KafkaBatches.writtenByKafka(codec, messages);
        ByteBuf second = one.copy();
        RecordBatch.setBaseOffset(second, 0, 120);
        ByteBuf payload = Unpooled.wrappedBuffer(one, second);
        reader.reset(payload);

        for (int batch = 0; batch < 2; batch++) {
            // when
            assertThat(reader.nextBatch()).isTrue();

            // then
            assertThat(reader.isControlBatch()).isFalse();
            assertThat(reader.recordCount()).isEqualTo(120);
            assertThat(reader.baseOffset()).isEqualTo(120L * batch);
            assertThat(reader.nextOffset()).isEqualTo(120L * (batch + 1));
            assertThat(readMessages(120L * batch)).isEqualTo(messages);
        }
        assertThat(reader.nextBatch()).isFalse();
        assertThat(payload.readerIndex()).isZero();
        payload.release();
    }

    @Test
    void shouldRefuseToReadRecordsWhenTheirBufferIsReleased() {
        // given
        ByteBuf payload = KafkaBatches.writtenByKafka(CompressionCodec.NONE, KafkaBatches.messages(3))
                .copy();
        reader.reset(payload);
        assertThat(reader.nextBatch()).isTrue();
        assertThat(reader.next()).isTrue();

        // when
        payload.release();

        // then
        assertThatThrownBy(reader::keySizeBytes).isInstanceOf(IllegalReferenceCountException.class);
        assertThatThrownBy(reader::next).isInstanceOf(IllegalReferenceCountException.class);
    }

    @Test
    void shouldIgnoreTheLastBatchWhenItIsCutOffAnywhere() {
        // given
        ByteBuf one = KafkaBatches.writtenByKafka(CompressionCodec.LZ4, KafkaBatches.messages(20));
        ByteBuf payload = Unpooled.copiedBuffer(one, one);
        for (int cut = 1; cut <= one.readableBytes(); cut++) {
            // when
            reader.reset(payload.slice(0, payload.readableBytes() - cut));

            // then
            assertThat(reader.nextBatch()).isTrue();
            assertThat(reader.nextBatch()).isFalse();
            assertThat(reader.nextIndex()).isEqualTo(one.readableBytes());
        }
    }

    @Test
    void shouldFlagControlBatchesWhenATransactionEnds() {
        // given
        MemoryRecords marker = MemoryRecords.withEndTransactionMarker(
                9L, (short) 3, new EndTransactionMarker(ControlRecordType.COMMIT, 4));
        reader.reset(KafkaBatches.copy(marker));

        // when
        boolean found = reader.nextBatch();

        // then
        assertThat(found).isTrue();
        assertThat(reader.isControlBatch()).isTrue();
        assertThat(reader.isTransactional()).isTrue();
        assertThat(reader.producerId()).isEqualTo(9);
        assertThat(reader.next()).isTrue();
        ByteBuf key = reader.key();
        assertThat(key.readShort()).isZero();
        assertThat(key.readShort()).isEqualTo(ControlRecordType.COMMIT.type());
    }

    @Test
    void shouldTellTheBrokersTimeWhenTheTopicAsksForIt() {
        // given
        ByteBuf batch = KafkaBatches.writtenByKafka(CompressionCodec.NONE, KafkaBatches.messages(3));

        // when
        BatchValidator.stampLogAppendTime(batch, 0, 123_456L);

        // then
        reader.reset(batch);
        assertThat(reader.nextBatch()).isTrue();
        assertThat(reader.next()).isTrue();
        assertThat(reader.timestampMs()).isEqualTo(123_456L);
        assertThat(KafkaBatches.readByKafka(batch).batches()).hasSize(1).allSatisfy(kafka -> {
            kafka.ensureValid();
            assertThat(kafka.timestampType()).isEqualTo(TimestampType.LOG_APPEND_TIME);
            assertThat(kafka.maxTimestamp()).isEqualTo(123_456L);
        });
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldNeverAcceptABatchWhenABitIsFlippedUnderItsChecksum(CompressionCodec codec) {
        // given
        ByteBuf batch = KafkaBatches.writtenByKafka(codec, KafkaBatches.messages(4));
        for (int index = RecordBatch.MAGIC; index < batch.readableBytes(); index++) {
            for (int bit = 0; bit < 8; bit++) {
                batch.setByte(index, batch.getByte(index) ^ (1 << bit));

                // when, then
                reader.reset(batch);
                assertThatThrownBy(reader::nextBatch).isInstanceOf(InvalidBatchException.class);
                batch.setByte(index, batch.getByte(index) ^ (1 << bit));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldFailInOneWayOnlyWhenBytesAreBadUnderARightChecksum(CompressionCodec codec) {
        // given
        ByteBuf sound = KafkaBatches.writtenByKafka(codec, KafkaBatches.messages(25));
        Random random = new Random(codec.id());
        int refused = 0;
        for (int round = 0; round < 1000; round++) {
            ByteBuf bad = sound.copy();
            for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
                int at = RecordBatch.ATTRIBUTES + random.nextInt(bad.readableBytes() - RecordBatch.ATTRIBUTES);
                bad.setByte(at, random.nextInt(256));
            }
            RecordBatch.setCrc(bad, 0, Crc32c.ofBatch(bad, 0, bad.readableBytes()));

            // when, then
            try {
                reader.reset(bad);
                while (reader.nextBatch()) {
                    readMessages(Long.MIN_VALUE);
                }
            } catch (InvalidBatchException e) {
                refused++;
                assertThat(e.getStackTrace()).isEmpty();
            }
        }
        assertThat(refused).isPositive();
    }

    @Test
    void shouldReadFromTheReaderIndexWhenThePayloadIsPartOfAFrame() {
        // given
        ByteBuf batch = KafkaBatches.writtenByKafka(CompressionCodec.SNAPPY, KafkaBatches.messages(5));
        ByteBuf frame = Unpooled.directBuffer().writeZero(17).writeBytes(batch).skipBytes(17);

        // when
        reader.reset(frame);

        // then
        assertThat(reader.nextBatch()).isTrue();
        assertThat(readMessages(0)).hasSize(5);
        frame.release();
    }

    @Test
    void shouldReadNothingWhenCompactionLeftAnEmptyBatch() {
        // given
        ByteBuffer space = ByteBuffer.allocate(200);
        org.apache.kafka.common.record.internal.DefaultRecordBatch.writeEmptyHeader(
                space, (byte) 2, 1, (short) 0, 0, 10, 19, 0, TimestampType.CREATE_TIME, 5L, false, false);
        space.flip();

        // when
        reader.reset(Unpooled.wrappedBuffer(space));

        // then
        assertThat(reader.nextBatch()).isTrue();
        assertThat(reader.next()).isFalse();
        assertThat(reader.nextOffset()).isEqualTo(20);
    }

    @Test
    void shouldKeepOffsetsWhenRecordsAreMissingBetween() {
        // given
        var builder = MemoryRecords.builder(
                ByteBuffer.allocate(500),
                KafkaBatches.compression(CompressionCodec.NONE),
                TimestampType.CREATE_TIME,
                10);
        builder.appendWithOffset(10, new SimpleRecord(1, new byte[1]));
        builder.appendWithOffset(15, new SimpleRecord(1, new byte[1]));
        reader.reset(KafkaBatches.copy(builder.build()));

        // when
        List<Long> offsets = new ArrayList<>();
        while (reader.nextBatch()) {
            while (reader.next()) {
                offsets.add(reader.offset());
            }
        }

        // then
        assertThat(offsets).containsExactly(10L, 15L);
    }

    /** All messages of the current batch; checks that offsets count up from {@code firstOffset} unless that is MIN. */
    private List<Message> readMessages(long firstOffset) {
        List<Message> messages = new ArrayList<>();
        while (reader.next()) {
            List<Header> headers = reader.headers();
            messages.add(new Message(reader.timestampMs(), array(reader.key()), array(reader.value()), headers));
            long offset = reader.offset();
            if (firstOffset != Long.MIN_VALUE) {
                assertThat(offset).isEqualTo(firstOffset + messages.size() - 1);
            }
        }
        return messages;
    }

    private static byte[] array(ByteBuf buffer) {
        return buffer == null ? null : ByteBufUtil.getBytes(buffer);
    }
}
