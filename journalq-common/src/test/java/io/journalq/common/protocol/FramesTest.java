package io.journalq.common.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataRequest.MetadataRequestTopic;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceRequest.PartitionProduceData;
import io.journalq.common.protocol.message.ProduceRequest.TopicProduceData;
import io.journalq.common.protocol.message.RequestHeader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whole frames against bytes written down by hand from the protocol guide. */
class FramesTest {
    private static final ByteBufAllocator ALLOCATOR = ByteBufAllocator.DEFAULT;

    @Test
    void shouldWriteTheGuidesBytesWhenARequestIsProduceVersionNine() {
        // given
        ProduceRequest request = new ProduceRequest()
                .setAcks((short) -1)
                .setTimeoutMs(1000)
                .setTopicData(List.of(new TopicProduceData()
                        .setName("t1")
                        .setPartitionData(List.of(new PartitionProduceData()
                                .setIndex(5)
                                .setRecords(RecordsData.of(Unpooled.copiedBuffer(new byte[] {1, 2, 3})))))));

        // when
        byte[] frame = KafkaMessages.bytes(Frames.request(ALLOCATOR, 42, "me", request, (short) 9));

        // then
        assertThat(HexFormat.of().formatHex(frame))
                .isEqualTo(
                        """
                        00000024
                        0000 0009 0000002a 0002 6d65 00
                        00 ffff 000003e8
                        02 03 7431
                        02 00000005 04 010203 00
                        00
                        00
                        """
                                .replaceAll("\\s", ""));
    }

    @Test
    void shouldReadTheHeaderWhenARequestArrives() {
        // given
        MetadataRequest request = new MetadataRequest()
                .setTopics(List.of(
                        new MetadataRequestTopic().setTopicId(new Uuid(1, 2)).setName(null)));
        byte[] frame = KafkaMessages.bytes(Frames.request(ALLOCATOR, 7, null, request, (short) 12));
        MessageReader in = new MessageReader(Unpooled.wrappedBuffer(frame));

        // when
        int sizeBytes = in.readInt();
        RequestHeader header = Frames.readRequestHeader(in);
        ApiMessage body = ApiKey.of(header.requestApiKey()).readRequest(in, header.requestApiVersion());

        // then
        assertThat(sizeBytes).isEqualTo(frame.length - 4);
        assertThat(header)
                .isEqualTo(new RequestHeader()
                        .setRequestApiKey(ApiKey.METADATA.id())
                        .setRequestApiVersion((short) 12)
                        .setCorrelationId(7)
                        .setClientId(null));
        assertThat(body).isEqualTo(request);
        in.expectEnd();
    }

    @Test
    void shouldReadTheHeaderWhenTheVersionIsUnknown() {
        // given: ApiVersions of a client from the future
        MessageReader in = reader("0012" + "7000" + "00000001" + "ffff" + "00");

        // when
        RequestHeader header = Frames.readRequestHeader(in);

        // then
        assertThat(header.requestApiVersion()).isEqualTo((short) 0x7000);
        assertThat(ApiKey.API_VERSIONS.hasVersion(header.requestApiVersion())).isFalse();
    }

    @Test
    void shouldRefuseTheHeaderWhenNoApiHasTheNumber() {
        assertThatThrownBy(() -> Frames.readRequestHeader(reader("7fff" + "0000" + "00000001" + "ffff")))
                .isInstanceOf(BadFrameException.class);
        assertThatThrownBy(() -> Frames.readRequestHeader(reader("0012" + "00")))
                .isInstanceOf(BadFrameException.class);
    }

    @Test
    void shouldKeepTheOldHeaderWhenTheResponseIsApiVersions() {
        ApiVersionsResponse response = new ApiVersionsResponse();

        byte[] frame = KafkaMessages.bytes(Frames.response(ALLOCATOR, 3, response, (short) 3));

        // length, correlation id, no tags in the header; error code, empty array, throttle time, no tags
        assertThat(HexFormat.of().formatHex(frame))
                .isEqualTo("0000000c" + "00000003" + "0000" + "01" + "00000000" + "00");
    }

    @Test
    void shouldReleaseTheBufferWhenAMessageCannotBeWritten() {
        // given: large records already handed over when writing fails
        ByteBuf records = ALLOCATOR.buffer().writeZero(MessageWriter.LARGE_RECORDS_SIZE_BYTES);
        ProduceRequest request = new ProduceRequest()
                .setTopicData(List.of(
                        new TopicProduceData()
                                .setPartitionData(
                                        List.of(new PartitionProduceData().setRecords(RecordsData.of(records)))),
                        new TopicProduceData().setName("x".repeat(MessageReader.MAX_STRING_SIZE_BYTES + 1))));

        // when
        assertThatThrownBy(() -> Frames.request(ALLOCATOR, 1, "c", request, (short) 9))
                .isInstanceOf(IllegalArgumentException.class);

        // then
        assertThat(records.refCnt()).isZero();
    }

    private static MessageReader reader(String hex) {
        return new MessageReader(Unpooled.wrappedBuffer(HexFormat.of().parseHex(hex)));
    }
}
