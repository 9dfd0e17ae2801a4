package io.journalq.common.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.record.KafkaBatches.Message;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BatchBuilderTest {
    private static final PooledByteBufAllocator ALLOCATOR = PooledByteBufAllocator.DEFAULT;

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldBeReadByKafkaWhenBuiltWithEveryCodec(CompressionCodec codec) {
        // given
        List<Message> messages = KafkaBatches.messages(120);
        try (BatchBuilder builder = new BatchBuilder(ALLOCATOR, codec, 64)) {
            for (int round = 0; round < 2; round++) {
                for (Message message : messages) {
                    int before = builder.sizeBytes();
                    append(builder, message, round == 0);
                    assertThat(builder.sizeBytes() - before).isLessThanOrEqualTo(bound(message));
                }
                builder.setProducerState(77, (short) 5, 1234, true);

                // when
                ByteBuf batch = builder.build();

                // then
                MutableRecordBatch read = onlyBatch(batch);
                read.ensureValid();
                assertThat(read.compressionType().id).isEqualTo((byte) codec.id());
                assertThat(read.producerId()).isEqualTo(77);
                assertThat(read.producerEpoch()).isEqualTo((short) 5);
                assertThat(read.baseSequence()).isEqualTo(1234);
                assertThat(read.isTransactional()).isTrue();
                assertThat(read.isControlBatch()).isFalse();
                assertThat(read.maxTimestamp())
                        .isEqualTo(messages.stream()
                                .mapToLong(Message::timestampMs)
                                .max()
                                .orElseThrow());
                assertThat(messagesOf(read)).isEqualTo(messages);
                assertThat(batch.refCnt()).isOne();
                batch.release();
                assertThat(builder.recordCount()).isZero();
            }
        }
    }

    @Test
    void shouldEqualKafkaByteForByteWhenNotCompressed() {
        // given
        List<Message> messages = KafkaBatches.messages(50);
        ByteBuf expected = KafkaBatches.writtenByKafka(CompressionCodec.NONE, messages);
        try (BatchBuilder builder = new BatchBuilder(ALLOCATOR, CompressionCodec.NONE)) {
            messages.forEach(message -> append(builder, message, false));

            // when
            ByteBuf batch = builder.build();

            // then
            assertThat(batch).isEqualTo(expected);
            batch.release();
        }
    }

    @Test
    void shouldForgetProducerStateWhenBuilt() {
        try (BatchBuilder builder = new BatchBuilder(ALLOCATOR, CompressionCodec.NONE)) {
            // given
            builder.setProducerState(1, (short) 1, 1, true);
            builder.buildSingle(1, null, new byte[1], List.of(), null).release();

            // when
            ByteBuf batch = builder.buildSingle(1, null, new byte[1], List.of(), null);

            // then
            assertThat(RecordBatch.producerId(batch, 0)).isEqualTo(RecordBatch.NO_PRODUCER_ID);
            assertThat(RecordBatch.isTransactional(batch, 0)).isFalse();
            batch.release();
        }
    }

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldBeReadByKafkaWhenOneRecordIsBuilt(CompressionCodec codec) {
        Message message = new Message(5, null, KafkaBatches.bytes("abc".repeat(400)), List.of());
        try (BatchBuilder builder = new BatchBuilder(ALLOCATOR, codec)) {
            // when
            ByteBuf batch = builder.buildSingle(5, message.key(), message.value(), List.of(), null);

            // then
            MutableRecordBatch read = onlyBatch(batch);
            read.ensureValid();
            assertThat(messagesOf(read)).isEqualTo(List.of(message));
            batch.release();
        }
    }

    @Test
    void shouldGoUncompressedAndTryEverLessOftenWhenRecordsDoNotShrink() {
        // given
        AdaptiveCompression adaptive = new AdaptiveCompression();
        try (BatchBuilder builder = new BatchBuilder(ALLOCATOR, CompressionCodec.LZ4)) {
            // when
            for (int i = 0; i < 3; i++) {
                ByteBuf batch = builder.buildSingle(1, null, KafkaBatches.random(2000, i), List.of(), adaptive);

                // then
                assertThat(RecordBatch.compressionId(batch, 0)).isZero();
                onlyBatch(batch).ensureValid();
                batch.release();
            }
            // tried, skipped one, tried: now two are skipped though they would shrink
            List<Integer> ids = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                ByteBuf batch = builder.buildSingle(1, null, new byte[2000], List.of(), adaptive);
                ids.add(RecordBatch.compressionId(batch, 0));
                batch.release();
            }
            assertThat(ids).containsExactly(0, 0, CompressionCodec.LZ4.id());
        }
    }

    @Test
    void shouldRefuseToBuildWhenEmpty() {
        try (BatchBuilder builder = new BatchBuilder(ALLOCATOR, CompressionCodec.NONE)) {
            assertThatThrownBy(builder::build).isInstanceOf(IllegalStateException.class);
        }
    }

    private static void append(BatchBuilder builder, Message message, boolean asBuffers) {
        if (asBuffers) {
            ByteBuf key = message.key() == null ? null : Unpooled.wrappedBuffer(message.key());
            ByteBuf value = message.value() == null ? null : Unpooled.wrappedBuffer(message.value());
            builder.append(message.timestampMs(), key, value, message.headers());
        } else {
            builder.append(message.timestampMs(), message.key(), message.value(), message.headers());
        }
    }

    private static int bound(Message message) {
        return BatchBuilder.maxRecordSizeBytes(
                message.key() == null ? 0 : message.key().length,
                message.value() == null ? 0 : message.value().length,
                message.headers());
    }

    private static MutableRecordBatch onlyBatch(ByteBuf batch) {
        List<MutableRecordBatch> batches = new ArrayList<>();
        KafkaBatches.readByKafka(batch).batches().forEach(batches::add);
        assertThat(batches).hasSize(1);
        return batches.get(0);
    }

    private static List<Message> messagesOf(MutableRecordBatch batch) {
        List<Message> messages = new ArrayList<>();
        for (Record record : batch) {
            assertThat(record.offset()).isEqualTo(messages.size());
            List<Header> headers = new ArrayList<>();
            for (org.apache.kafka.common.header.Header header : record.headers()) {
                headers.add(new Header(header.key(), header.value()));
            }
            messages.add(new Message(record.timestamp(), array(record.key()), array(record.value()), headers));
        }
        return messages;
    }

    private static byte[] array(ByteBuffer buffer) {
        return buffer == null ? null : Utils.toArray(buffer);
    }
}
