package io.journalq.common.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.FetchResponse.FetchableTopicResponse;
import io.journalq.common.protocol.message.FetchResponse.NodeEndpoint;
import io.journalq.common.protocol.message.FetchResponse.PartitionData;
import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import io.netty.util.ReferenceCounted;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessageWriterTest {
    private static final ByteBufAllocator ALLOCATOR = PooledByteBufAllocator.DEFAULT;
    private static final short LATEST = FetchResponse.HIGHEST_VERSION;

    static Stream<ByteBufAllocator> allocators() {
        return Stream.of(
                new PooledByteBufAllocator(true),
                new PooledByteBufAllocator(false),
                new AdaptiveByteBufAllocator(true),
                new UnpooledByteBufAllocator(true),
                new UnpooledByteBufAllocator(false));
    }

    @Test
    void shouldGiveOneBufferWhenRecordsAreSmall() {
        // given
        ByteBuf records = records(MessageWriter.LARGE_RECORDS_SIZE_BYTES - 1);
        MessageWriter out = new MessageWriter(ALLOCATOR);

        // when
        out.writeInt(7);
        out.writeRecords(RecordsData.of(records), false);
        List<ReferenceCounted> parts = out.finish();

        // then: copied, and the reference that was handed over is given back
        assertThat(parts).hasSize(1);
        assertThat(records.refCnt()).isZero();
        assertThat(((ByteBuf) parts.get(0)).readableBytes()).isEqualTo(8 + MessageWriter.LARGE_RECORDS_SIZE_BYTES - 1);
        parts.get(0).release();
    }

    @Test
    void shouldGiveTheSameBufferWhenRecordsAreLarge() {
        // given
        ByteBuf first = records(MessageWriter.LARGE_RECORDS_SIZE_BYTES);
        ByteBuf second = records(MessageWriter.LARGE_RECORDS_SIZE_BYTES + 5);
        MessageWriter out = new MessageWriter(ALLOCATOR);

        // when
        out.writeRecords(RecordsData.of(first), true);
        out.writeShort((short) 1);
        out.writeRecords(RecordsData.of(second), true);
        int sizeBytes = out.sizeBytes();
        List<ReferenceCounted> parts = out.finish();

        // then
        assertThat(parts).hasSize(4);
        first.setByte(0, 77);
        assertThat(((ByteBuf) parts.get(1)).getByte(0)).isEqualTo((byte) 77);
        assertThat(parts.get(3)).isEqualTo(second);
        assertThat(parts.stream()
                        .mapToInt(part -> ((ByteBuf) part).readableBytes())
                        .sum())
                .isEqualTo(sizeBytes);
        parts.forEach(ReferenceCounted::release);
        assertThat(first.refCnt()).isZero();
        assertThat(parts.get(0).refCnt()).isZero();
    }

    @Test
    void shouldWriteTheSameAgainWhenRecordsWereRetainedAndTheirPartWasSent() {
        // given: whoever may have to send again
        ByteBuf records = records(MessageWriter.LARGE_RECORDS_SIZE_BYTES);
        RecordsData data = RecordsData.of(records);
        byte[] expected = ByteBufUtil.getBytes(records);

        for (int attempt = 0; attempt < 2; attempt++) {
            // when
            MessageWriter out = new MessageWriter(ALLOCATOR);
            out.writeRecords(data.retain(), false);
            byte[] sent = KafkaMessages.bytes(out.finish());

            // then
            assertThat(sent).endsWith(expected).hasSize(4 + expected.length);
        }
        data.release();
        assertThat(records.refCnt()).isZero();
    }

    @Test
    void shouldCountAFileRegionWhenAFrameIsFinished(@TempDir Path directory) throws IOException {
        // given
        Path file = Files.write(directory.resolve("log"), new byte[100]);
        FileRegion region = new DefaultFileRegion(FileChannel.open(file), 10, 50);
        MessageWriter out = MessageWriter.frame(ALLOCATOR);

        // when
        out.writeRecords(RecordsData.of(region), false);
        out.writeByte((byte) 9);
        List<ReferenceCounted> parts = out.finish();

        // then: 4 bytes of length are not counted, those of the records and what stands around them are
        assertThat(parts).hasSize(3);
        assertThat(parts.get(1)).isSameAs(region);
        assertThat(((ByteBuf) parts.get(0)).getInt(0)).isEqualTo(4 + 50 + 1);
        parts.forEach(ReferenceCounted::release);
        assertThat(region.refCnt()).isZero();
    }

    @Test
    void shouldReleaseEverythingWhenDropped() {
        // given
        ByteBuf large = records(MessageWriter.LARGE_RECORDS_SIZE_BYTES);
        MessageWriter out = new MessageWriter(ALLOCATOR);
        out.writeRecords(RecordsData.of(large), true);

        // when
        out.release();

        // then
        assertThat(large.refCnt()).isZero();
    }

    @Test
    void shouldReadBackTheMessageWhenItsPartsAreJoined() {
        // given: many partitions, small and large records in turn, while the buffer grows between them
        List<PartitionData> partitions = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            ByteBuf records = records(i % 3 == 0 ? MessageWriter.LARGE_RECORDS_SIZE_BYTES + i : 10 * i);
            partitions.add(new PartitionData().setPartitionIndex(i).setRecords(RecordsData.of(records.retain())));
        }
        FetchResponse response = new FetchResponse()
                .setResponses(List.of(new FetchableTopicResponse().setPartitions(partitions)))
                .setNodeEndpoints(
                        List.of(new NodeEndpoint().setNodeId(1).setHost("h").setPort(9092)));

        // when
        MessageWriter out = new MessageWriter(ALLOCATOR);
        response.write(out, LATEST);
        byte[] bytes = KafkaMessages.bytes(out.finish());

        // then
        FetchResponse read = FetchResponse.read(new MessageReader(Unpooled.wrappedBuffer(bytes)), LATEST);
        assertThat(read.equals(response)).isTrue();
        partitions.forEach(partition -> partition.records().release());
    }

    @ParameterizedTest
    @MethodSource("allocators")
    void shouldMoveTheContentWhenATaggedFieldIsLarge(ByteBufAllocator allocator) {
        for (int sizeBytes : new int[] {4, 127, 128, 129, 16_383, 16_384, 3_000_000}) {
            // given
            byte[] content = new byte[sizeBytes - 4];
            for (int i = 0; i < content.length; i++) {
                content[i] = (byte) ((i * 31) >>> 3);
            }
            MessageWriter out = new MessageWriter(allocator);

            // when
            out.writeInt(1);
            int mark = out.beginTag(300);
            ByteBuf bytes = Unpooled.wrappedBuffer(content);
            out.writeBytes(bytes, false);
            out.endTag(mark);
            out.writeInt(2);
            ByteBuf written = (ByteBuf) out.finish().get(0);

            // then
            MessageReader in = new MessageReader(written);
            assertThat(in.readInt()).isEqualTo(1);
            assertThat(in.readTag()).isEqualTo(300);
            int end = in.readTagEnd();
            assertThat(end - in.position()).isEqualTo(sizeBytes);
            assertThat(in.readBytes(false)).isEqualTo(bytes);
            in.endTag(end);
            assertThat(in.readInt()).isEqualTo(2);
            in.expectEnd();
            written.release();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "topic-1", "grüße", "漢字", "\uD83D\uDE00", "\u0000\u007F\u0080\u07FF\u0800"})
    void shouldReadBackTheTextWhenItIsWritten(String text) {
        for (boolean flexible : new boolean[] {false, true}) {
            MessageWriter out = new MessageWriter(ALLOCATOR);

            out.writeString(text, flexible);
            ByteBuf written = (ByteBuf) out.finish().get(0);

            assertThat(new MessageReader(written).readString(flexible)).isEqualTo(text);
            written.release();
        }
    }

    @Test
    void shouldRefuseTextWhenItExceedsTheProtocolsLimit() {
        MessageWriter out = new MessageWriter(ALLOCATOR);
        String tooLong = "x".repeat(MessageReader.MAX_STRING_SIZE_BYTES + 1);

        assertThatThrownBy(() -> out.writeString(tooLong, true)).isInstanceOf(IllegalArgumentException.class);
        out.release();
    }

    @Test
    void shouldLeaveTheBytesAsTheyAreWhenTheyAreNotRecords() {
        // given
        ByteBuf bytes = records(30).skipBytes(10);
        MessageWriter out = new MessageWriter(ALLOCATOR);

        // when
        out.writeBytes(bytes, true);
        ByteBuf written = (ByteBuf) out.finish().get(0);

        // then
        assertThat(bytes.readerIndex()).isEqualTo(10);
        assertThat(bytes.refCnt()).isOne();
        assertThat(new MessageReader(written).readBytes(true)).isEqualTo(bytes);
        written.release();
        bytes.release();
    }

    private static ByteBuf records(int sizeBytes) {
        ByteBuf records = ALLOCATOR.buffer(sizeBytes);
        for (int i = 0; i < sizeBytes; i++) {
            records.writeByte(i);
        }
        assertThat(ByteBufUtil.getBytes(records)).hasSize(sizeBytes);
        return records;
    }
}
