package io.journalq.common.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class MessageWriterTest {
    private static final int RECORDS_SIZE_BYTES = 1_000;
    private static final int COUNT = 50;
    private static final int LARGE_SIZE_BYTES = 3_000_000;

    @Test
    void shouldNotGrowWhenTheSizeOfRecordsIsKnown() {
        // when it is created for as many bytes as are written
        ByteBuf frame = written(COUNT * RECORDS_SIZE_BYTES);

        // then it did not grow, which it would have done to a power of two
        assertThat(frame.capacity()).isLessThan(2 * Integer.highestOneBit(COUNT * RECORDS_SIZE_BYTES));
        frame.release();
    }

    @Test
    void shouldGrowWhenRecordsExceedTheExpectedSize() {
        ByteBuf frame = written(10);

        assertThat(frame.getInt(0)).isEqualTo(frame.readableBytes() - Integer.BYTES);
        frame.release();
    }

    @Test
    void shouldWriteTheSameBytesWhenALargeMessageGoesOnInFurtherBuffers() {
        // given
        MessageWriter whole = new MessageWriter(UnpooledByteBufAllocator.DEFAULT);
        MessageWriter inStretches = MessageWriter.inStretches(UnpooledByteBufAllocator.DEFAULT);

        // when
        writeLargeFrames(whole);
        writeLargeFrames(inStretches);

        // then
        assertThat(inStretches.sizeBytes()).isEqualTo(whole.sizeBytes());
        List<ReferenceCounted> parts = inStretches.finish();
        assertThat(parts).hasSizeGreaterThan(5).allSatisfy(part -> assertThat(((ByteBuf) part).readableBytes())
                .isLessThan(2 * LARGE_SIZE_BYTES));
        ByteBuf expected = Unpooled.wrappedBuffer(whole.finish().toArray(new ByteBuf[0]));
        ByteBuf actual = Unpooled.wrappedBuffer(parts.toArray(new ByteBuf[0]));
        assertThat(actual).isEqualTo(expected);
        actual.release();
        expected.release();
    }

    @Test
    void shouldReleaseEveryBufferWhenALargeMessageIsDropped() {
        UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
        MessageWriter writer = MessageWriter.inStretches(allocator);
        writeLargeFrames(writer);

        writer.release();

        assertThat(allocator.metric().usedHeapMemory() + allocator.metric().usedDirectMemory())
                .isZero();
    }

    /** Two frames with all that is written by itself, by reference, or moved afterwards. */
    private static void writeLargeFrames(MessageWriter writer) {
        for (int frame = 0; frame < 2; frame++) {
            writer.beginFrame();
            for (int i = 0; i < 40; i++) {
                writer.writeString("element " + i, true);
                writer.writeBytes(filled(i * 10_000, i), false);
                int mark = writer.beginTag(1);
                writer.writeBytes(filled(i * 1_000, i), true);
                writer.endTag(mark);
                writer.writeRecords(RecordsData.of(filled(i * 1_000, i)), false);
                writer.writeCount(i, false);
            }
            writer.writeBytes(filled(LARGE_SIZE_BYTES, frame), false);
            writer.endFrame();
        }
    }

    private static ByteBuf filled(int sizeBytes, int value) {
        byte[] bytes = new byte[sizeBytes];
        Arrays.fill(bytes, (byte) value);
        return Unpooled.wrappedBuffer(bytes);
    }

    private static ByteBuf written(int copiedBytes) {
        MessageWriter writer = MessageWriter.frame(UnpooledByteBufAllocator.DEFAULT, copiedBytes);
        for (int i = 0; i < COUNT; i++) {
            ByteBuf records = UnpooledByteBufAllocator.DEFAULT.heapBuffer().writeZero(RECORDS_SIZE_BYTES);
            writer.writeRecords(RecordsData.of(records), false);
        }
        List<ReferenceCounted> parts = writer.finish();
        assertThat(parts).hasSize(1);
        ByteBuf frame = (ByteBuf) parts.get(0);
        assertThat(frame.readableBytes()).isEqualTo(Integer.BYTES + COUNT * (Integer.BYTES + RECORDS_SIZE_BYTES));
        return frame;
    }
}
