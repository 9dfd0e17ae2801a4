package io.journalq.common.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.util.List;
import org.junit.jupiter.api.Test;

class MessageWriterTest {
    private static final int RECORDS_SIZE_BYTES = 1_000;
    private static final int COUNT = 50;

    @Test
    void shouldHaveRoomForTheRecordsItWasToldOf() {
        // when it is told of as many as are written
        ByteBuf frame = written(COUNT * RECORDS_SIZE_BYTES);

        // then it did not grow, which it would have done to a power of two
        assertThat(frame.capacity()).isLessThan(2 * Integer.highestOneBit(COUNT * RECORDS_SIZE_BYTES));
        frame.release();
    }

    @Test
    void shouldGrowWhenThereIsMoreThanItWasToldOf() {
        ByteBuf frame = written(10);

        assertThat(frame.getInt(0)).isEqualTo(frame.readableBytes() - Integer.BYTES);
        frame.release();
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
