package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.Message;
import io.journalq.server.metadata.ClusterVersion;
import io.journalq.server.metadata.record.TopicRecord;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;

/** Records are written in a version that every broker of the cluster can read. */
class MetadataRecordCodecTest {
    private static final int VERSION_AT = 2;

    @Test
    void shouldWriteTheNewestVersionOfTheLevelWhenATypeHasNewerOnes() {
        // given a type whose second version came with level 3, and its third with level 4
        MetadataRecordCodec.Type type = new MetadataRecordCodec.Type(TopicRecord.class, TopicRecord::read, 1, 3, 4);

        // then each level has the newest version that came with it or before
        assertThat(type.versionAt(1)).isZero();
        assertThat(type.versionAt(2)).isZero();
        assertThat(type.versionAt(3)).isEqualTo((short) 1);
        assertThat(type.versionAt(4)).isEqualTo((short) 2);
        assertThat(type.versionAt(9)).as("a level of a newer release").isEqualTo((short) 2);
    }

    @Test
    void shouldKnowALevelForEveryVersionOfASchema() throws Exception {
        for (MetadataRecordCodec.Type type : MetadataRecordCodec.types()) {
            assertThat(type.highestVersion())
                    .as("%s: name the level at which the new version is written", type.recordClass())
                    .isEqualTo(type.recordClass().getField("HIGHEST_VERSION").getShort(null));
            assertThat(type.levels()).isSorted().startsWith(ClusterVersion.FIRST);
        }
    }

    @Test
    void shouldWriteVersionZeroAtTheFirstLevel() throws Exception {
        for (MetadataRecordCodec.Type type : MetadataRecordCodec.types()) {
            Message empty = type.recordClass().getConstructor().newInstance();

            ByteBuf encoded = MetadataRecordCodec.encode(empty, ClusterVersion.FIRST, UnpooledByteBufAllocator.DEFAULT);

            assertThat(encoded.getByte(VERSION_AT)).isZero();
            assertThat(MetadataRecordCodec.decode(encoded)).isEqualTo(empty);
            encoded.release();
        }
    }
}
