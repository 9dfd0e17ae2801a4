package io.journalq.common.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.utils.BufferSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BatchRewriterTest {
    private static final int MAX_BYTES = 1 << 20;

    /** Gives buffers, but no more memory for one of them. */
    private static final class ShortAllocator extends AbstractByteBufAllocator {
        final List<ByteBuf> given = new ArrayList<>();

        ShortAllocator() {
            super(true);
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            ByteBuf buffer = new UnpooledDirectByteBuf(this, initialCapacity, maxCapacity) {
                @Override
                public ByteBuf capacity(int newCapacity) {
                    throw new OutOfMemoryError("Cannot reserve direct buffer memory");
                }
            };
            given.add(buffer);
            return buffer;
        }
    }

    /** Two compressed records. */
    private static ByteBuf batch(CompressionCodec codec) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(1_000, new byte[] {1}, new byte[] {2}, List.of());
            builder.append(1_000, new byte[] {3}, new byte[] {4}, List.of());
            ByteBuf plain = builder.build();
            try {
                return BatchRecompression.recompress(plain, codec, MAX_BYTES, UnpooledByteBufAllocator.DEFAULT);
            } finally {
                plain.release();
            }
        }
    }

    @Test
    void shouldReleaseTheBatchWhenMemoryRunsOut() {
        // given
        ShortAllocator allocator = new ShortAllocator();
        ByteBuf batch = batch(CompressionCodec.ZSTD);
        BitSet kept = new BitSet();
        kept.set(1);

        // when
        try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT, MAX_BYTES, true);
                BatchRewriter rewriter = new BatchRewriter(allocator)) {
            reader.reset(batch);
            assertThat(reader.nextBatch()).isTrue();
            assertThatThrownBy(() -> rewriter.rewrite(reader, kept, BatchRewriter.SAME_HORIZON))
                    .isInstanceOf(OutOfMemoryError.class);
        }

        // then
        assertThat(allocator.given).hasSize(2).allMatch(buffer -> buffer.refCnt() == 0);
        batch.release();
    }

    /** Clients of Kafka also decompress a batch that has no records. */
    @ParameterizedTest
    @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void shouldLeaveAHeaderThatKafkaReadsWhenNoRecordIsKept(CompressionCodec codec) {
        // given
        ByteBuf batch = batch(codec);

        // when
        ByteBuf emptied;
        try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT, MAX_BYTES, true);
                BatchRewriter rewriter = new BatchRewriter(UnpooledByteBufAllocator.DEFAULT)) {
            reader.reset(batch);
            assertThat(reader.nextBatch()).isTrue();
            emptied = rewriter.rewrite(reader, new BitSet(), BatchRewriter.SAME_HORIZON);
        }

        // then
        org.apache.kafka.common.record.internal.RecordBatch read = MemoryRecords.readableRecords(emptied.nioBuffer())
                .batches()
                .iterator()
                .next();
        read.ensureValid();
        assertThat(read.lastOffset()).isEqualTo(1);
        assertThat(read.streamingIterator(BufferSupplier.NO_CACHING)).isExhausted();
        batch.release();
        emptied.release();
    }
}
