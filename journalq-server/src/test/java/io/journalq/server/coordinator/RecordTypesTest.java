package io.journalq.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.server.metadata.record.ProducerIdsRecord;
import io.journalq.server.metadata.record.RemoveTopicRecord;
import io.journalq.server.metadata.record.TopicRecord;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

class RecordTypesTest {
    private static final ByteBufAllocator ALLOCATOR = ByteBufAllocator.DEFAULT;
    private static final RecordTypes TYPES = RecordTypes.of(
            new RecordTypes.Type(
                    (short) 3, RemoveTopicRecord.class, RemoveTopicRecord::read, TopicRecord::read, (short) 0),
            new RecordTypes.Type(
                    (short) 7, ProducerIdsRecord.class, ProducerIdsRecord::read, TopicRecord::read, (short) 0));

    private final RemoveTopicRecord key = new RemoveTopicRecord().setTopicId(new Uuid(1, 2));

    @Test
    void shouldReadWhatItWrote() {
        CoordinatorRecord record = new CoordinatorRecord(
                key, new TopicRecord().setTopicId(new Uuid(3, 4)).setName("orders"));
        ByteBuf keyBytes = TYPES.encodeKey(record, ALLOCATOR);
        ByteBuf valueBytes = TYPES.encodeValue(record, ALLOCATOR);
        try {
            assertThat(keyBytes.getShort(0)).isEqualTo((short) 3);
            assertThat(TYPES.decode(keyBytes, valueBytes)).isEqualTo(record);
        } finally {
            keyBytes.release();
            valueBytes.release();
        }
    }

    @Test
    void shouldKeepATombstoneWithoutAValue() {
        CoordinatorRecord record = CoordinatorRecord.tombstone(key);
        ByteBuf keyBytes = TYPES.encodeKey(record, ALLOCATOR);
        try {
            assertThat(TYPES.encodeValue(record, ALLOCATOR)).isNull();
            assertThat(TYPES.decode(keyBytes, null)).isEqualTo(record);
        } finally {
            keyBytes.release();
        }
    }

    @Test
    void shouldRefuseATypeOfANewerRelease() {
        assertThatThrownBy(() -> TYPES.decode(Unpooled.wrappedBuffer(new byte[] {0, 99}), null))
                .isInstanceOf(BadFrameException.class)
                .hasMessageContaining("99");
    }

    @Test
    void shouldRefuseAValueOfANewerRelease() {
        ByteBuf keyBytes = TYPES.encodeKey(CoordinatorRecord.tombstone(key), ALLOCATOR);
        try {
            assertThatThrownBy(() -> TYPES.decode(keyBytes, Unpooled.wrappedBuffer(new byte[] {0, 1})))
                    .isInstanceOf(BadFrameException.class)
                    .hasMessageContaining("version 1");
        } finally {
            keyBytes.release();
        }
    }
}
