package io.journalq.common.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TransactionMarkerTest {
    private static final long NOW_MS = 1_700_000_000_000L;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldWriteTheBytesThatKafkaWrites(boolean commit) {
        // given the marker of a transaction, as Kafka writes it
        ByteBuf expected = kafkas(commit ? ControlRecordType.COMMIT : ControlRecordType.ABORT);

        // when
        TransactionMarker marker = new TransactionMarker(4_711, (short) 12, commit, 33);
        ByteBuf written = marker.encode(PooledByteBufAllocator.DEFAULT, NOW_MS);

        // then
        assertThat(ByteBufUtil.hexDump(written)).isEqualTo(ByteBufUtil.hexDump(expected));
        assertThat(TransactionMarker.read(written, 0)).isEqualTo(marker);
        written.release();
    }

    @Test
    void shouldReadNothingWhenTheBatchIsNoMarker() {
        // given a marker whose type, length or flag says something else
        ByteBuf otherType = kafkas(ControlRecordType.COMMIT);
        otherType.setShort(RecordBatch.HEADER_SIZE_BYTES + 7, 5);
        ByteBuf badRecord = kafkas(ControlRecordType.COMMIT);
        badRecord.setByte(RecordBatch.HEADER_SIZE_BYTES, 0x7F);
        ByteBuf data = kafkas(ControlRecordType.COMMIT);
        RecordBatch.setAttributes(data, 0, (short) RecordBatch.TRANSACTIONAL_FLAG);
        ByteBuf empty = kafkas(ControlRecordType.COMMIT);
        empty.setInt(RecordBatch.RECORD_COUNT, 0);

        // then
        assertThat(TransactionMarker.read(otherType, 0)).isNull();
        assertThat(TransactionMarker.read(badRecord, 0)).isNull();
        assertThat(TransactionMarker.read(data, 0)).isNull();
        assertThat(TransactionMarker.read(empty, 0)).isNull();
    }

    private static ByteBuf kafkas(ControlRecordType type) {
        return Unpooled.wrappedBuffer(MemoryRecords.withEndTransactionMarker(
                        0, NOW_MS, RecordBatch.NO_LEADER_EPOCH, 4_711, (short) 12, new EndTransactionMarker(type, 33))
                .buffer());
    }
}
